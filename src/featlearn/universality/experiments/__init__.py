"""What the rules of chapter 7 call: a module an experiment, a function a job."""
