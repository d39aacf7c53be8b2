"""Neural style transfer with Gram matrices: the picture itself is the variable that is trained."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(44)

inputs = tf.keras.Input((24, 24, 3))
x = tf.keras.layers.Conv2D(8, 3, activation="relu", name="block1")(inputs)
x = tf.keras.layers.AveragePooling2D(2)(x)
x = tf.keras.layers.Conv2D(12, 3, activation="relu", name="block2")(x)
extractor_net = tf.keras.Model(inputs, x)
extractor_net.trainable = False

content_layers, style_layers = ["block2"], ["block1", "block2"]


def gram_matrix(tensor):
    result = tf.linalg.einsum("bijc,bijd->bcd", tensor, tensor)
    shape = tf.shape(tensor)
    return result / tf.cast(shape[1] * shape[2], tf.float32)


class StyleContentModel(tf.keras.models.Model):
    def __init__(self, style_layers, content_layers):
        super().__init__()
        outputs = [extractor_net.get_layer(n).output for n in style_layers + content_layers]
        self.net = tf.keras.Model(extractor_net.input, outputs)
        self.style_layers, self.content_layers = style_layers, content_layers

    def call(self, inputs):
        outputs = self.net(inputs)
        style = [gram_matrix(out) for out in outputs[: len(self.style_layers)]]
        content = outputs[len(self.style_layers) :]
        return {
            "content": dict(zip(self.content_layers, content)),
            "style": dict(zip(self.style_layers, style)),
        }


yy, xx = np.mgrid[0:24, 0:24] / 24.0
content_image = np.stack([xx, yy, xx * yy], -1)[None].astype("float32")
waves = np.sin(20 * np.stack([xx + yy, xx - yy, xx], -1))
style_image = (0.5 + 0.5 * waves)[None].astype("float32")

extractor = StyleContentModel(style_layers, content_layers)
style_targets = extractor(style_image)["style"]
content_targets = extractor(content_image)["content"]
for name, output in sorted(style_targets.items()):
    print("style", name, tuple(output.shape), f"{float(tf.reduce_mean(output)):.6f}")

image = tf.Variable(content_image)
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)
style_weight, content_weight, variation_weight = 1e-1, 1.0, 1e-4


def style_content_loss(outputs):
    style = tf.add_n(
        [tf.reduce_mean((outputs["style"][n] - style_targets[n]) ** 2) for n in style_layers]
    )
    content = tf.add_n(
        [tf.reduce_mean((outputs["content"][n] - content_targets[n]) ** 2) for n in content_layers]
    )
    return style * style_weight / len(style_layers) + content * content_weight


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        loss = style_content_loss(extractor(image))
        loss += variation_weight * tf.image.total_variation(image)[0]
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0))
    return loss


step = 0
for _ in range(4):
    for _ in range(5):
        step += 1
        loss = train_step(image)
        print(".", end="", flush=True)
    print(f" Train step: {step}, loss {float(loss):.6f}")
tf.io.write_file("styled.png", tf.io.encode_png(tf.cast(image[0] * 255, tf.uint8)))
