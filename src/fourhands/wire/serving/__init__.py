"""The model APIs from the provider's side: what a stand-in for a model must read, check and answer."""
