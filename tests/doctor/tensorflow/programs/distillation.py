"""Knowledge distillation: a student learns the soft answers of a teacher, by compute_loss."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers, ops

keras.utils.set_random_seed(37)

rng = np.random.default_rng(37)
x = rng.normal(size=(300, 10)).astype("float32")
y = (np.abs(x[:, 0]) + x[:, 1] > 0.8).astype("int32") + (x[:, 2] > 1.0).astype("int32")


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.teacher = teacher
        self.student = student

    def compile(
        self, optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha=0.1, temperature=3
    ):
        super().compile(optimizer=optimizer, metrics=metrics)
        self.student_loss_fn = student_loss_fn
        self.distillation_loss_fn = distillation_loss_fn
        self.alpha = alpha
        self.temperature = temperature

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, allow_empty=False):
        teacher_pred = self.teacher(x, training=False)
        student_loss = self.student_loss_fn(y, y_pred)
        distillation_loss = self.distillation_loss_fn(
            ops.softmax(teacher_pred / self.temperature, axis=1),
            ops.softmax(y_pred / self.temperature, axis=1),
        ) * (self.temperature**2)
        return self.alpha * student_loss + (1 - self.alpha) * distillation_loss

    def call(self, x):
        return self.student(x)


def classifier(name, units):
    return keras.Sequential(
        [keras.Input((10,)), layers.Dense(units, activation="relu"), layers.Dense(3)], name=name
    )


teacher, student = classifier("teacher", 48), classifier("student", 6)
student_scratch = keras.models.clone_model(student)
settings = dict(
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
)
teacher.compile(optimizer=keras.optimizers.Adam(0.01), **settings)
teacher.fit(x, y, epochs=5, verbose=2)

distiller = Distiller(student=student, teacher=teacher)
distiller.teacher.trainable = False
distiller.compile(
    optimizer=keras.optimizers.Adam(0.01),
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    student_loss_fn=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    distillation_loss_fn=keras.losses.KLDivergence(),
    alpha=0.1,
    temperature=5,
)
distiller.fit(x, y, epochs=4, verbose=2)
print("trainable:", [w.path for w in distiller.trainable_weights])
results = distiller.evaluate(x, y, verbose=0, return_dict=True)
print({name: round(float(value), 5) for name, value in results.items()})

student_scratch.compile(optimizer=keras.optimizers.Adam(0.01), **settings)
student_scratch.fit(x, y, epochs=4, verbose=0)
print([round(v, 5) for v in student_scratch.evaluate(x, y, verbose=0)])
