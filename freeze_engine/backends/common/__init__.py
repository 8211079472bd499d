"""Code that both backends share: patching, torch's private names, active captures, the observer."""
