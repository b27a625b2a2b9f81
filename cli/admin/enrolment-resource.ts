import { column, date, flexible, type Resource } from './admin-resource.ts';

const BATCH = { BATCH: 'batchId' };
const DEVICE = { ...BATCH, DEVICE: 'deviceId' };
const STATES = ['pending', 'approved', 'enrolled', 'refused'];
const ID = 'enb_0193480f3a5b00112233445566778899';
const ENDS = '--expires-at 2026-12-20T09:30:00Z';

/** The batches of devices that may enrol, and the devices that have asked. */
export const ENROLMENT: Resource = {
  resource: 'enrolment',
  columns: [
    column('ID', 'batchId'),
    { ...column('STATE', 'state'), state: true },
    column('APPROVAL', 'approval'),
    column('ENROLLED', 'enrolled'),
    column('OF', 'mostDevices'),
    column('PENDING', 'pending'),
    date('EXPIRES (UTC)', 'expiresAt'),
    flexible('NAME', 'name'),
  ],
  verbs: [
    {
      verb: 'create',
      summary: 'Makes a code with which new devices of a developer get their credentials, and shows it',
      operation: 'createEnrolmentBatch',
      fields: {
        name: { field: 'name', value: 'TEXT', text: 'a name for people' },
        'most-devices': { field: 'mostDevices', value: 'N', kind: 'number', text: 'the most devices that may enrol' },
        'expires-at': {
          field: 'expiresAt',
          value: 'TIME',
          text: 'the end of the code, in UTC, in the next 366 days: 2026-12-20T09:30:00Z',
        },
        approval: {
          field: 'approval',
          value: 'KIND',
          choices: ['automatic', 'manual'],
          text: 'automatic: the code is enough; manual: a person approves each device (automatic)',
        },
        'device-ids': {
          field: 'deviceIds',
          value: 'FILE',
          kind: 'json',
          file: true,
          text: 'file with a JSON list of deviceIds, or of their first digits; only these may enrol (- is standard input)',
        },
        'claim-certificate': {
          field: 'claimCertificate',
          value: 'FILE.pem',
          kind: 'text',
          text: 'certificate, or CA of the certificates, with which devices enrol in place of a code (- is standard input)',
        },
        'device-ca': {
          field: 'authorityId',
          value: 'CA',
          text: 'CA that signs a client certificate for each device, in place of a credential (lapel admin device-ca)',
        },
        'certificate-days': {
          field: 'certificateDays',
          value: 'N',
          kind: 'number',
          text: 'the days for which these certificates are valid (365)',
        },
        registered: {
          field: 'registered',
          kind: 'flag',
          text: 'devices that are registered may enrol, too, if they have never logged in',
        },
      },
      note: 'A code is shown only now, and never again.',
      examples: [`lapel admin enrolment create --developer acme --name 'line 2' --most-devices 1000 ${ENDS}`],
    },
    {
      verb: 'list',
      summary: 'Lists the enrolment batches of a developer, the newest first; times are in UTC',
      operation: 'listEnrolmentBatches',
      kind: 'list',
      list: 'batches',
      examples: ['lapel admin enrolment list --developer acme'],
    },
    {
      verb: 'show',
      summary: 'Shows an enrolment batch, and how many devices have enrolled',
      operation: 'readEnrolmentBatch',
      arguments: BATCH,
      examples: [`lapel admin enrolment show ${ID}`],
    },
    {
      verb: 'devices',
      isNoun: true,
      summary: 'Lists the devices that have asked with the code of an enrolment batch',
      operation: 'listEnrolments',
      arguments: BATCH,
      kind: 'list',
      list: 'devices',
      first: 100,
      columns: [
        column('DEVICE', 'deviceId'),
        { ...column('STATE', 'state'), state: true },
        column('ADDRESS', 'address'),
        date('REQUESTED (UTC)', 'requestedAt'),
        date('DECIDED (UTC)', 'decidedAt'),
      ],
      query: { state: { parameter: 'state', value: 'STATE', choices: STATES, text: 'only devices in this state' } },
      examples: [`lapel admin enrolment devices ${ID} --state pending`],
    },
    {
      verb: 'approve',
      summary: 'Approves a device that waits; it gets its credential when it asks again',
      operation: 'approveEnrolment',
      arguments: DEVICE,
      examples: [`lapel admin enrolment approve ${ID} 490154203237518`],
    },
    {
      verb: 'refuse',
      summary: 'Refuses a device that waits, for good',
      operation: 'refuseEnrolment',
      arguments: DEVICE,
      examples: [`lapel admin enrolment refuse ${ID} 490154203237518`],
    },
    {
      verb: 'revoke',
      summary: 'Ends an enrolment batch: nobody enrols with its code any more',
      operation: 'revokeEnrolmentBatch',
      arguments: BATCH,
      examples: [`lapel admin enrolment revoke ${ID}`],
    },
  ],
};
