"""Latebind in the frameworks that people have: one module a framework, which imports it. docs/integrations.md has all.

langchain, llama_index, haystack, chroma, and sentence_transformers, which needs nothing but NumPy.
"""
