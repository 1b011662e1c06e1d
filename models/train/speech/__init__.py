"""The speech model: synthetic speech, features, network, training and export to ggml."""
