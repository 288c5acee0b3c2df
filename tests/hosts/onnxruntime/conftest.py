"""Latebind's provider, registered for the tests of a file."""

import onnxruntime as ort
import pytest
from provider_scene import LIBRARY


@pytest.fixture(scope="module")
def devices():
    ort.register_execution_provider_library("latebind", LIBRARY)
    yield [device for device in ort.get_ep_devices() if device.ep_name == "Latebind"]
    ort.unregister_execution_provider_library("latebind")
