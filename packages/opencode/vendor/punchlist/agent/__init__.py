"""The reference agent: a small loop around a model, its tools and the plan it works from.

loop        asks the model, runs its calls, attaches what it should hear, nudges it or lets it stop
messages    what is said in a conversation, and its JSON
transcript  a conversation in a file, a line for each message
sessions    begin, continue, resume, compact
models      the one function a model is; scripted: the shipped fake; providers: the real ones
tools/      what a model can do; queue: in which order calls run, and which of them together
events      what an agent tells whoever watches, and what it asks of them
"""
