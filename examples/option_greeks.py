"""The Greeks of a call option: every sensitivity of a formula, first and second order."""

import tensorflow as tf


def normal_cdf(x):
    return 0.5 * (1.0 + tf.math.erf(x / 2.0**0.5))


def call_price(spot, strike, rate, volatility, years):
    spread = volatility * tf.sqrt(years)
    d1 = (tf.math.log(spot / strike) + (rate + volatility**2 / 2.0) * years) / spread
    return spot * normal_cdf(d1) - strike * tf.exp(-rate * years) * normal_cdf(d1 - spread)


spot, strike, rate, volatility, years = (
    tf.Variable(value, dtype=tf.float64) for value in (100.0, 105.0, 0.02, 0.25, 0.5)
)

with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape() as inner:
        price = call_price(spot, strike, rate, volatility, years)
    delta, vega, theta, rho = inner.gradient(price, [spot, volatility, years, rate])
gamma = outer.gradient(delta, spot)
vanna = outer.gradient(delta, volatility)

greeks = {"price": price, "delta": delta, "gamma": gamma, "vega": vega}
greeks |= {"theta": -theta, "rho": rho, "vanna": vanna}
for name, value in greeks.items():
    print(f"{name:6} {value.numpy():10.6f}")

# The volatility that explains a price of 8: Newton's method on the price itself.
for _ in range(6):
    with tf.GradientTape() as tape:
        miss = call_price(spot, strike, rate, volatility, years) - 8.0
    volatility.assign_sub(miss / tape.gradient(miss, volatility))
print(f"implied volatility {volatility.numpy():.6f}")
