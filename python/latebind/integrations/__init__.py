"""Latebind in other frameworks, one module per framework, which imports it. docs/integrations.md is the manual.

The modules are langchain, llama_index, haystack, chroma, and sentence_transformers, which only needs NumPy.
"""
