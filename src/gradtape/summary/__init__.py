"""`tf.summary`: numbers, histograms, text, images and sound of a run, for TensorBoard."""

from ..framework.namespaces import namespace

_HOMES = {
    "kinds": "audio histogram image scalar text write",
    "traces": "graph trace_export trace_off trace_on",
    "writers": """
        SummaryWriter create_file_writer create_noop_writer flush record_if
        should_record_summaries""",
    "": "experimental",  # modules
}
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
