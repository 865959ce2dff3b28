"""Why a requirement of a conversation is not met: by states of the code, words and lines of the agent."""
