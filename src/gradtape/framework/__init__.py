"""Values and what is done to arguments: tensors, variables, conversion, shapes, printing."""
