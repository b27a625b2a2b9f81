/** The calls by which somebody makes a drift. Paths begin at the application (`api`) or at administration (`admin`). */
export interface Hand {
  /** Runs a command of the command line. */
  lapel(line: string): Promise<void>;
  api(method: 'PATCH' | 'POST' | 'DELETE', path: string, json?: object): Promise<void>;
  admin(method: 'PATCH' | 'POST' | 'DELETE', path: string, json?: object): Promise<void>;
  /** The id of an endpoint with a description, of the rollout at work, of a member, or of an open batch. */
  endpoint(description: string): Promise<string>;
  rollout(): Promise<string>;
  member(): Promise<string>;
  batch(): Promise<string>;
  device: string;
}

/** A change that somebody makes by hand, and how a plan names it. */
export interface Drift {
  /** The change in words, for the table in docs/configuration-files.md. */
  by: string;
  make(hand: Hand): Promise<void>;
  /** The title of the step, and the field that it names. */
  found: string;
  field: string;
  /** Where a plan refuses to change it by itself: the words of the reason. */
  refused?: string;
  /** Why an apply cannot take it back: the words of the service. The last drift. */
  lasts?: string;
}

/** The files that the drifts depart from. `new` stands for a name that is not taken. */
export const FILES = {
  'settings.yaml': "settings: { deviceEvent: 'https://events.example/', callEvent: 'https://calls.example/' }\n",
  'endpoints.yaml': `endpoints:
  - description: billing
    url: https://billing.example/
    types: [transaction.*]
    ratePerSecond: 20
    ordered: device
    enabled: true
    missed: send
    signatures: [v1a]
  - description: audit
    url: https://audit.example/
    signatures: [v1a]
`,
  'packages.yaml': `packages:
  - package: com.example.camera
    displayName: Camera
    versions:
      - version: 1.0.0
        description: the first
        file: camera.apk
        distributed: true
`,
  'tags.yaml': `tags:
  - { name: ring, devices: { devices: ['DEVICE'] }, tags: { ring: canary, retired: null } }
`,
  'rollouts.yaml': `rollouts:
  - { label: language, operation: setLanguage, parameters: { lang: en-GB }, devices: {}, ratePerMinute: 5 }
`,
  'administration.yaml': `administration:
  developers:
    - developerId: dev
      deviceLimit: 100
      softwareSignatures: optional
      applications: [{ applicationId: second, name: Second, secretTo: new/second }]
      members: [{ name: Ann, role: reader, tokenTo: new/ann }]
      enrolmentBatches: [{ name: spring, expiresAt: '2027-03-01T00:00:00Z', mostDevices: 5, codeTo: new/spring }]
  people: [{ personId: bob, name: Bob, role: support, disabled: false }]
`,
};

const PACKAGE = '/packages/com.example.camera';

/** Each is made by hand after an apply; a plan finds all of them. */
export const DRIFTS: readonly Drift[] = [
  {
    by: 'sets another URL in the settings',
    make: ({ api }) => api('PATCH', '', { deviceEvent: 'https://by-hand.example/' }),
    found: 'change settings dev-app',
    field: 'deviceEvent',
  },
  {
    by: 'removes a URL of the settings',
    make: ({ api }) => api('PATCH', '', { callEvent: null }),
    found: 'change settings dev-app',
    field: 'callEvent',
  },
  {
    by: 'changes the URL of an endpoint',
    make: async ({ api, endpoint }) =>
      api('PATCH', `/endpoints/${await endpoint('billing')}`, { url: 'https://by-hand.example/' }),
    found: 'change endpoint billing',
    field: 'url',
  },
  {
    by: 'changes the types of an endpoint',
    make: async ({ api, endpoint }) => api('PATCH', `/endpoints/${await endpoint('billing')}`, { types: [] }),
    found: 'change endpoint billing',
    field: 'types',
  },
  {
    by: 'changes the rate of an endpoint',
    make: async ({ api, endpoint }) => api('PATCH', `/endpoints/${await endpoint('billing')}`, { ratePerSecond: null }),
    found: 'change endpoint billing',
    field: 'ratePerSecond',
  },
  {
    by: 'disables an endpoint',
    make: async ({ api, endpoint }) => api('PATCH', `/endpoints/${await endpoint('billing')}`, { enabled: false }),
    found: 'change endpoint billing',
    field: 'enabled',
  },
  {
    by: 'removes an endpoint',
    make: async ({ api, endpoint }) => api('DELETE', `/endpoints/${await endpoint('audit')}`),
    found: 'create endpoint audit',
    field: 'url',
  },
  {
    by: 'gives an endpoint a secret instead of a key pair',
    make: async ({ api, endpoint }) =>
      api('POST', `/endpoints/${await endpoint('audit')}/secret`, { signatures: ['v1'] }),
    found: 'replace endpoint audit',
    field: 'signatures',
  },
  {
    by: 'changes the name of a package',
    make: ({ api }) => api('PATCH', PACKAGE, { displayName: 'By hand' }),
    found: 'change package com.example.camera',
    field: 'displayName',
  },
  {
    by: 'changes the description of a version',
    make: ({ api }) => api('PATCH', `${PACKAGE}/versions/1.0.0`, { description: 'by hand' }),
    found: 'change version com.example.camera@1.0.0',
    field: 'description',
  },
  {
    by: 'stops a distribution',
    make: ({ api }) => api('DELETE', `${PACKAGE}/versions/1.0.0/distributions`),
    found: 'change version com.example.camera@1.0.0',
    field: 'distributed',
  },
  {
    by: 'removes a binary',
    make: ({ api }) => api('DELETE', `${PACKAGE}/versions/1.0.0/binaries`),
    found: 'change version com.example.camera@1.0.0',
    field: 'file',
  },
  {
    by: 'uploads another binary for a version',
    make: ({ lapel }) => lapel('app upload OTHER.apk --version 1.0.0 --replace'),
    found: 'version com.example.camera@1.0.0',
    field: 'file',
    refused: 'a binary is never replaced',
  },
  {
    by: 'changes a tag of a device',
    make: ({ lapel, device }) => lapel(`device tag ${device} ring=by-hand`),
    found: 'change tags ring',
    field: 'ring',
  },
  {
    by: 'gives a device a tag that the files take away',
    make: ({ lapel, device }) => lapel(`device tag ${device} retired=yes`),
    found: 'change tags ring',
    field: 'retired',
  },
  {
    by: 'cancels a rollout',
    make: async ({ lapel, rollout }) => lapel(`rollout cancel ${await rollout()}`),
    found: 'create rollout language',
    field: 'operation',
  },
  {
    by: 'pauses a rollout, and changes its rate',
    make: async ({ lapel, api, rollout }) => {
      const rolloutId = await rollout();
      await lapel(`rollout pause ${rolloutId}`);
      await api('PATCH', `/rollouts/${rolloutId}`, { ratePerMinute: 500 });
    },
    found: 'change rollout language',
    field: 'ratePerMinute',
  },
  {
    by: 'changes the contract of a developer',
    make: ({ admin }) => admin('PATCH', '/developers/dev', { deviceLimit: 1000 }),
    found: 'change developer dev',
    field: 'deviceLimit',
  },
  {
    by: 'changes the rule for signatures of a developer',
    make: ({ admin }) => admin('PATCH', '/developers/dev', { softwareSignatures: 'required' }),
    found: 'change developer dev',
    field: 'softwareSignatures',
  },
  {
    by: 'revokes the token of a person of a developer',
    make: async ({ admin, member }) => admin('DELETE', `/developers/dev/members/${await member()}`),
    found: 'create member Ann of dev',
    field: 'name',
  },
  {
    by: 'revokes an enrolment batch',
    make: async ({ admin, batch }) => admin('POST', `/enrolment-batches/${await batch()}/revoke`),
    found: 'create enrolment batch spring of dev',
    field: 'expiresAt',
  },
  {
    by: 'gives a person of administration another role',
    make: ({ admin }) => admin('PATCH', '/people/bob', { role: 'operator' }),
    found: 'change person bob',
    field: 'role',
  },
  {
    by: 'disables a person of administration',
    make: ({ admin }) => admin('PATCH', '/people/bob', { disabled: true }),
    found: 'change person bob',
    field: 'disabled',
  },
  {
    by: 'removes a person of administration',
    make: ({ admin }) => admin('DELETE', '/people/bob'),
    found: 'create person bob',
    field: 'personId',
  },
  {
    by: 'removes an application',
    make: ({ admin }) => admin('DELETE', '/applications/second'),
    found: 'create application second',
    field: 'applicationId',
    lasts: 'an applicationId is never used again',
  },
];
