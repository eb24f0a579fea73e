"""What a command of the agent need not know: the keys of those who provide models."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PROVIDERS = re.compile(
    r"(ANTHROPIC|CLAUDE|OPENAI|AZURE_OPENAI|AZURE_AI|GEMINI|GOOGLE_API|GOOGLE_GENAI|GOOGLE_GENERATIVE|VERTEX|GROQ|MISTRAL"
    r"|CODESTRAL|COHERE|CO_API|OPENROUTER|DEEPSEEK|XAI|GROK|TOGETHER|FIREWORKS|PERPLEXITY|PPLX|CEREBRAS|SAMBANOVA|NEBIUS"
    r"|MOONSHOT|KIMI|DASHSCOPE|QWEN|ZAI|ZHIPU|MINIMAX|HYPERBOLIC|DEEPINFRA|REPLICATE|HF|HUGGINGFACE|HUGGINGFACEHUB"
    r"|HUGGING_FACE|OLLAMA|LITELLM|PORTKEY|HELICONE|VERCEL_AI|AI_GATEWAY|PYDANTIC_AI|WATSONX|VOYAGE|GITHUB_MODELS"
    r"|HEROKU_INFERENCE|OVHCLOUD_AI|BEDROCK|AWS_BEARER_TOKEN_BEDROCK|LLM)(?=_|$)"
)
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|BEARER")
_OF = {  # what else signs in at a provider, if that is the one in use
    "bedrock": re.compile(r"AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)"),
    "google-vertex": re.compile(r"GOOGLE_APPLICATION_CREDENTIALS"),
    "github": re.compile(r"GITHUB_(API_KEY|TOKEN)|GH_TOKEN"),
}
_LEAST = 8  # characters of a key that is looked for under other names


def without_keys(environ: Mapping[str, str], model: str) -> dict[str, str]:
    """An environment without the keys of model providers, also where one has another name."""
    own = _OF.get(model.partition(":")[0])
    hidden = {name for name in environ if _is_key(name) or (own and own.fullmatch(name))}
    values = {environ[name] for name in hidden if len(environ[name]) >= _LEAST}
    return {name: value for name, value in environ.items() if name not in hidden and value not in values}


def _is_key(name: str) -> bool:
    found = _PROVIDERS.match(name.upper())
    return bool(found and _SECRET.search(name.upper()))
