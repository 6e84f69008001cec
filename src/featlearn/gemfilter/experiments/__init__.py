"""What the rules of this paper call: a module an experiment, a function a job."""
