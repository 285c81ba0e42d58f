"""Steps and the pipelines made of them: what they are, how they are checked, how they run.

- `step`: `Step`, the one declaration of a stage; `Pipeline`, several as a value
- `run`: `Run`, one question on its way; tracing, failure policies, streaming
- `services`: what a step may ask of the outside world
- `checking`, `options`: what is wrong with a pipeline, before it runs
- `workers`, `prompts`, `conditions`: options that take code in Python and names or text in YAML
- `control`: `When`, `Repeat`
- `metering`, `notes`: what a step used and noted

The steps themselves are in `refdesk.steps`; reading them from YAML is `refdesk.configuration`.
"""

from refdesk.pipeline.control import Repeat, When
from refdesk.pipeline.run import Run
from refdesk.pipeline.services import LLMValue, Services
from refdesk.pipeline.step import Kind, OnError, Pipeline, Step

__all__ = ["Kind", "LLMValue", "OnError", "Pipeline", "Repeat", "Run", "Services", "Step", "When"]
