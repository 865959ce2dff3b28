"""What a text says, without a model: whether words say a requirement, take it up, or say it the other way round."""
