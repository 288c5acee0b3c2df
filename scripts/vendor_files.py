"""What vendors' files are called. scripts/check_release and the tests of what is given away read it."""

import re

# Any file or library of a vendor has one of these in its name, wherever it lies and whatever the system.
VENDOR = re.compile(r"openvino|onnxruntime|(^|lib|[/\\ ])tbb|qnn|intel_npu", re.IGNORECASE)
# Our own library for one, and sources, examples and pages about them. tests/deploy/release_test.py compares the endings
# with the files of the repository.
OURS = re.compile(r"\.(md|py|c|h|hpp|cpp|cmake|in|map|tsv|txt)$|(^|/)(lib)?onnxruntime_providers_latebind\.(so|dll)$")


def is_vendors(name):
    """Whether a file at this path is a vendor's."""
    return VENDOR.search(name) is not None and not OURS.search(name)
