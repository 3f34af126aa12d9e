"""Compare learners over random orders of the text messages, and draw the picture of the README.

python examples/compare_learners.py FILE
"""

import sys

import tauten as tt
from tauten.data import sms_spam, words

LEARNERS = {
    "Perceptron": tt.make("perceptron"),
    "Perceptron, averaged": tt.make("perceptron", average=True),
    "PA-I, C=0.1": tt.make("pa1", C=0.1),
    "PAm-1, C=0.1, γ=0.001": tt.make("pamean1", C=0.1, gamma=0.001),
}


def main() -> None:
    """Run ten orders, print the table, write the picture."""
    texts, labels = sms_spam()
    comparison = tt.compare(LEARNERS, [words(text) for text in texts], labels, repeats=10)
    print(
        comparison.to_frame()[["error_rate", "error_rate_sd", "f1", "updates", "p_value"]]
        .round(4)
        .to_string()
    )
    ax = comparison.plot()
    ax.set(title="5,574 text messages, each predicted before it is learned", ylim=(0.01, 0.1))
    ax.figure.savefig(sys.argv[1], dpi=130)


if __name__ == "__main__":
    main()
