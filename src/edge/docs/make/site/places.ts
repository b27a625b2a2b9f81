/** A page of the site that is made from a document in Markdown. */
interface Guide {
  /** The name of the page, which is also its address below `/docs`. */
  name: string;
  /** The document, by its path from the root of the project. */
  file: string;
  /** Its title in the navigation. */
  title: string;
  /** One line on the first page of the site. */
  about: string;
}

interface Section {
  title: string;
  /** Places in these documents come earlier in the search than others that fit as well, but have a lower rank. */
  rank: number;
  guides: readonly Guide[];
}

/** All documents of the site, in the order of the navigation. The reference of the API follows the guides. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Guides',
    rank: 20,
    guides: [
      {
        name: 'tutorial',
        file: 'docs/tutorial.md',
        title: 'The first five minutes',
        about: 'From nothing to a verified webhook, with a simulated device on your machine.',
      },
      {
        name: 'with-curl',
        file: 'docs/with-curl.md',
        title: 'The path with curl',
        about: 'The same path as plain calls.',
      },
      {
        name: 'stream',
        file: 'docs/stream.md',
        title: 'Events: pull or push',
        about: 'The stream of events: in order, without a URL, with consumers that keep their places.',
      },
      {
        name: 'endpoints',
        file: 'docs/endpoints.md',
        title: 'Endpoints: several places, in order',
        about: 'Push events to up to 16 places, each with its types, key, order and rate; replay what was missed.',
      },
      {
        name: 'verify-webhooks',
        file: 'docs/verify-webhooks.md',
        title: 'Verify webhooks',
        about: 'What is signed and how, and code for five languages.',
      },
      {
        name: 'webhooks',
        file: 'docs/webhooks.md',
        title: 'How webhooks behave',
        about: 'Order, repetition, retries, a slow receiver, and one that is away for a week or a month.',
      },
      {
        name: 'recovery',
        file: 'docs/recovery.md',
        title: 'Recover after an outage',
        about: 'Your receiver was down: find what is missing, and have it sent again.',
      },
      {
        name: 'rollouts',
        file: 'docs/rollouts.md',
        title: 'Roll out a release',
        about: 'One operation for many devices, in stages that stop when too much fails.',
      },
      {
        name: 'assistants',
        file: 'docs/assistants.md',
        title: 'Assistants',
        about: 'Let an assistant ask the service, and change something when you have agreed.',
      },
      {
        name: 'pipelines',
        file: 'docs/pipelines.md',
        title: 'Release from a pipeline',
        about: 'A job that signs, uploads, rolls out and waits, on GitHub, on GitLab and elsewhere.',
      },
      {
        name: 'clients',
        file: 'docs/clients.md',
        title: 'Clients in Python, Java and Go',
        about: 'A method for each operation, and the verification of webhooks.',
      },
      {
        name: 'signing',
        file: 'docs/signing.md',
        title: 'Sign software',
        about: 'Only software that your key has signed reaches devices.',
      },
      {
        name: 'configuration-files',
        file: 'docs/configuration-files.md',
        title: 'Configuration as files',
        about: 'Settings, endpoints, software and contracts in files: plan, apply, and find changes by hand.',
      },
      {
        name: 'errors',
        file: 'docs/errors.md',
        title: 'Errors',
        about: 'The shape of an error, when to repeat a call, and the table of all codes.',
      },
      {
        name: 'idempotency',
        file: 'docs/idempotency.md',
        title: 'Repeat calls safely',
        about: 'An answer was lost: repeat the call without doing it twice.',
      },
      {
        name: 'dry-runs',
        file: 'docs/dry-runs.md',
        title: 'Know first what a call would do',
        about: 'Dry runs of the calls that touch many devices or events, and why the others have none.',
      },
      {
        name: 'paging',
        file: 'docs/paging.md',
        title: 'Long lists',
        about: 'Follow the links from page to page, at the same cost for each.',
      },
      {
        name: 'time-zones',
        file: 'docs/time-zones.md',
        title: 'Times and time zones',
        about: 'Which times are local, which are UTC, and how to compare them.',
      },
    ],
  },
  {
    title: 'For your work',
    rank: 10,
    guides: [
      {
        name: 'application-developers',
        file: 'docs/application-developers.md',
        title: 'Applications',
        about: 'Everything that a developer of an application needs.',
      },
      {
        name: 'devices',
        file: 'docs/devices.md',
        title: 'Devices',
        about: 'The rules that a device must obey, and three complete devices.',
      },
      {
        name: 'device-java',
        file: 'docs/device-java.md',
        title: 'A device in Java',
        about: 'The library that keeps the rules, in Java and on Android, and a camera.',
      },
      {
        name: 'operations',
        file: 'docs/operations.md',
        title: 'Operation',
        about: 'Installation, backups, upgrades, TLS, metrics, several nodes.',
      },
      {
        name: 'runbook',
        file: 'docs/runbook.md',
        title: 'Runbook',
        about: 'What to do when an alert fires.',
      },
      {
        name: 'scale',
        file: 'docs/scale.md',
        title: 'Scale',
        about: 'The load that one node carries, and more of them.',
      },
      {
        name: 'events-beside-others',
        file: 'docs/events-beside-others.md',
        title: 'Events beside other services',
        about: 'The stream and the endpoints beside Stripe, Svix, Outpost, Convoy and EventBridge Pipes.',
      },
      {
        name: 'benchmark',
        file: 'docs/benchmark.md',
        title: 'Beside peers',
        about: 'The loop beside services of other libraries, and what kills do to each.',
      },
      {
        name: 'qa',
        file: 'docs/qa.md',
        title: 'Tests with simulated fleets',
        about: 'Scenarios, faults, reports, and a job for the CI.',
      },
      {
        name: 'client',
        file: 'client/README.md',
        title: 'The client for TypeScript',
        about: 'The package `@lapel/client`, in Node and in browsers.',
      },
    ],
  },
  {
    title: 'Background',
    rank: -20,
    guides: [
      { name: 'overview', file: 'README.md', title: 'Lapel', about: 'What it is, and how it is installed.' },
      {
        name: 'reference',
        file: 'docs/reference.md',
        title: 'Settings, bounds, metrics',
        about: 'Every setting with its default, every bound, every metric.',
      },
      {
        name: 'conformance',
        file: 'CONFORMANCE.md',
        title: 'Conformance',
        about: 'Each status of each operation, with its test case.',
      },
      {
        name: 'security',
        file: 'docs/security.md',
        title: 'Security',
        about: 'The defences of the service, with the test of each, and how to report a fault.',
      },
      {
        name: 'report-a-fault',
        file: 'SECURITY.md',
        title: 'Report a fault',
        about: 'Whom to tell, and what to expect.',
      },
      {
        name: 'architecture',
        file: 'docs/architecture.md',
        title: 'Architecture',
        about: 'The parts of the code, and the rules that keep the promises.',
      },
      {
        name: 'contributing',
        file: 'CONTRIBUTING.md',
        title: 'Contributing',
        about: 'How to add, test and measure.',
      },
      { name: 'conduct', file: 'CODE_OF_CONDUCT.md', title: 'Code of conduct', about: 'How we speak to one another.' },
      { name: 'changes', file: 'CHANGELOG.md', title: 'Changes', about: 'All changes, release by release.' },
    ],
  },
];

export const GUIDES: readonly Guide[] = SECTIONS.flatMap(({ guides }) => guides);

/** The name of the page for a tag of the OpenAPI document: `Device settings` is `api-device-settings`. */
export const pageOfTag = (tag: string): string => `api-${tag.toLowerCase().replaceAll(' ', '-')}`;

/** The files of this project that pages load. */
export const OWN_FILES = ['frame.css', 'lapel.css', 'reference.css', 'site.js', 'try.css', 'try.js'] as const;
