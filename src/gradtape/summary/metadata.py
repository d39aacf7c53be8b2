"""`tf.compat.v1.SummaryMetadata`: which plugin of TensorBoard a summary is for."""

from __future__ import annotations

from ..io.protos import message


class PluginData:
    """A plugin's name, and what it is told."""

    def __init__(self, plugin_name: str = "", content: bytes = b"") -> None:
        self.plugin_name, self.content = plugin_name, content


class SummaryMetadata:
    """What `tf.summary.write` writes beside a tensor."""

    def __init__(
        self,
        display_name: str = "",
        summary_description: str = "",
        plugin_data: PluginData | None = None,
    ) -> None:
        self.display_name, self.summary_description = display_name, summary_description
        self.plugin_data = PluginData() if plugin_data is None else plugin_data

    def SerializeToString(self) -> bytes:
        """Its bytes as a protocol buffer."""
        plugin = [(1, self.plugin_data.plugin_name)]
        content = [(2, self.plugin_data.content)] if self.plugin_data.content else []
        return message(
            (1, message(*plugin, *content)), (2, self.display_name), (3, self.summary_description)
        )


SummaryMetadata.PluginData = PluginData  # type: ignore[attr-defined]
