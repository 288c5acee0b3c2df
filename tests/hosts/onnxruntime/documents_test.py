"""docs/onnxruntime.md: its snippets run."""
