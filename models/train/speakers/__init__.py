"""Who speaks: a voice embedding and a segmentation model, trained on recordings of people."""
