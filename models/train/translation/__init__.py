"""The translation model: sentence pairs, network, training and export to CTranslate2's format."""
