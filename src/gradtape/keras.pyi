"""`tf.keras`, for editors and type checkers."""

from keras._tf_keras.keras import *
from keras._tf_keras.keras import initializers as initializers
from keras._tf_keras.keras import layers as layers
from keras._tf_keras.keras import losses as losses
from keras._tf_keras.keras import metrics as metrics
from keras._tf_keras.keras import models as models
from keras._tf_keras.keras import optimizers as optimizers
