"""All APIs of the fake cloud together."""

from collections.abc import Mapping

from tests.fakes.google_cloud.cloud import Cloud
from tests.fakes.google_cloud.functions import Functions
from tests.fakes.google_cloud.gateways import Gateways
from tests.fakes.google_cloud.monitoring import Monitoring
from tests.fakes.google_cloud.organisation import Organisation
from tests.fakes.google_cloud.projects import Projects, Secrets
from tests.fakes.google_cloud.run import Run
from tests.fakes.google_cloud.stored_tasks import Firestore, Pubsub, Queues, Scheduler


class GoogleCloud:
    """A cloud with these projects (numbers by id) and nothing in them."""

    def __init__(self, projects: Mapping[str, str]) -> None:
        self.cloud = Cloud(dict(projects))
        self.projects = Projects(self.cloud)
        self.secrets = Secrets(self.cloud)
        self.run = Run(self.cloud)
        self.functions = Functions(self.cloud, self.run)
        self.gateways = Gateways(self.cloud)
        self.firestore = Firestore()
        self.pubsub = Pubsub(self.cloud)
        self.queues = Queues(self.cloud)
        self.scheduler = Scheduler()
        self.monitoring = Monitoring()
        self.organisation = Organisation(self.cloud)
        self.cloud.routes += [
            route
            for api in (self.organisation, self.projects, self.secrets, self.run, self.functions, self.gateways)
            for route in api.routes()
        ]
        self.cloud.routes += [*self.firestore.routes(), *self.pubsub.routes()]
        self.cloud.routes += [*self.queues.routes(), *self.scheduler.routes(), *self.monitoring.routes()]
