"""What the programs in `examples/keras/` print on the real TensorFlow."""
