import type { AdminOperations } from '@lapel/client/admin-operations';
import { DEVICE_ACTIONS } from './action-resource.ts';
import { column, date, type Field, flexible, type Resource, SHOWN_ONCE, type Verb } from './admin-resource.ts';
import { AUDIT } from './audit-resource.ts';
import { CERTIFICATES } from './certificate-resource.ts';
import { DEVICE_CAS } from './device-ca-resource.ts';
import { DEVICES } from './device-resource.ts';
import { ENROLMENT } from './enrolment-resource.ts';
import { FLEET } from './fleet-resource.ts';
import { PACKAGES, SEARCH, SETTINGS, TRANSACTIONS } from './fleet-resources.ts';
import { MEMBERS } from './member-resource.ts';
import { NOTES } from './note-resource.ts';
import { ADMINISTRATOR_TOKEN, CALLER, PEOPLE, TOKENS } from './person-resource.ts';
import { REMOVALS } from './removal-resource.ts';
import { ROLLOUTS } from './rollout-resource.ts';
import { SECRETS } from './secret-resource.ts';
import { SESSION } from './session-resource.ts';
import { RULES, SOFTWARE_KEYS } from './software-key-resource.ts';
import { DELIVERIES, RECEIVERS } from './webhook-resources.ts';

const SOFTWARE_COLUMNS = [
  column('PACKAGE', 'package'),
  column('VERSION', 'version'),
  date('UPDATED', 'updateDate'),
  flexible('NAME', 'displayName'),
  flexible('DESCRIPTION', 'description'),
];
const TEXTS: Verb['fields'] = {
  'display-name': {
    field: 'displayName',
    value: 'TEXT',
    text: 'display name of the package',
    none: 'remove the display name of the package',
  },
  description: {
    field: 'description',
    value: 'TEXT',
    text: 'description of the version',
    none: 'remove the description of the version',
  },
};
const VERSION = { PACKAGE: 'package', VERSION: 'version' };

/**
 * The resource `system package` or `firmware`. The service itself distributes both, and their operations are the same.
 */
const software = (
  resource: string,
  {
    thing,
    list,
    example,
    file,
    operations,
  }: Record<'thing' | 'list' | 'example' | 'file', string> & {
    operations: Record<'list' | 'put' | 'remove' | 'issueUrl', keyof AdminOperations>;
  },
): Resource => ({
  resource,
  columns: SOFTWARE_COLUMNS,
  verbs: [
    {
      verb: 'list',
      summary: `Lists ${thing} with their versions`,
      operation: operations.list,
      kind: 'list',
      list,
      examples: [`lapel admin ${resource} list`],
    },
    {
      verb: 'put',
      summary: 'Registers a version, or changes its display name and description',
      operation: operations.put,
      arguments: VERSION,
      fields: TEXTS,
      examples: [
        `lapel admin ${resource} put ${example} --description 'steadier picture'`,
        `lapel admin ${resource} put ${example} --no-display-name`,
      ],
    },
    {
      verb: 'delete',
      summary: 'Deletes a version and its file',
      operation: operations.remove,
      arguments: VERSION,
      done: 'deleted',
      examples: [`lapel admin ${resource} delete ${example}`],
    },
    {
      verb: 'upload',
      summary: 'Registers a version and uploads its file',
      operation: operations.issueUrl,
      kind: 'upload',
      registers: operations.put,
      fields: TEXTS,
      examples: [`lapel admin ${resource} upload ${file}`],
    },
  ],
});

const LIMIT: Field = {
  field: 'deviceLimit',
  value: 'N',
  kind: 'number',
  text: 'contracted number of devices',
};
const NAME: Field = { field: 'name', value: 'TEXT', text: 'a name for people' };
/** All commands of `lapel admin` except the import of devices: a row for each resource, with a row for each verb. */
export const RESOURCES: readonly Resource[] = [
  {
    resource: 'developer',
    columns: [column('DEVELOPER', 'developerId'), flexible('NAME', 'name'), column('DEVICE LIMIT', 'deviceLimit')],
    verbs: [
      {
        verb: 'create',
        summary: 'Creates a developer; without --device-limit it has no contract and cannot activate devices',
        operation: 'createDeveloper',
        arguments: { '[DEVELOPER]': 'developerId' },
        fields: { name: NAME, 'device-limit': LIMIT, ...RULES },
        examples: ['lapel admin developer create acme --name Acme --device-limit 10'],
      },
      {
        verb: 'list',
        summary: 'Lists all developers',
        operation: 'listDevelopers',
        kind: 'list',
        list: 'developers',
        examples: ['lapel admin developer list', 'lapel admin developer list --json | jq .total'],
      },
      {
        verb: 'show',
        summary: 'Shows a developer with its contract and usage',
        operation: 'readDeveloper',
        arguments: { DEVELOPER: 'developerId' },
        examples: ['lapel admin developer show acme'],
      },
      {
        verb: 'update',
        summary: 'Changes the name, the contract or the rules of a developer',
        operation: 'updateDeveloper',
        arguments: { DEVELOPER: 'developerId' },
        fields: {
          name: NAME,
          'device-limit': { ...LIMIT, none: 'end the contract: activated devices stay, but none can be activated' },
          ...RULES,
        },
        examples: [
          'lapel admin developer update acme --device-limit 500',
          'lapel admin developer update acme --no-device-limit',
          'lapel admin developer update acme --signatures required --certificate-change refuse',
        ],
      },
      {
        verb: 'delete',
        summary: 'Deletes a developer who has no applications, devices and packages',
        operation: 'deleteDeveloper',
        arguments: { DEVELOPER: 'developerId' },
        done: 'deleted',
        examples: ['lapel admin developer delete acme'],
      },
    ],
  },
  SOFTWARE_KEYS,
  MEMBERS,
  {
    resource: 'application',
    columns: [
      column('APPLICATION', 'applicationId'),
      column('DEVELOPER', 'developerId'),
      flexible('NAME', 'name'),
      column('ACTIVATED', 'activated'),
      date('CREATED (UTC)', 'createdAt'),
    ],
    verbs: [
      {
        verb: 'create',
        summary: 'Creates an application of a developer, and shows its secret',
        operation: 'createApplication',
        arguments: { '[APPLICATION]': 'applicationId' },
        fields: { name: NAME },
        note: 'The secret is shown only now, and never again; lapel login stores it.',
        examples: ['lapel admin application create patrol --developer acme --name Patrol'],
      },
      {
        verb: 'list',
        summary: 'Lists the applications of all developers, or of one; times are in UTC',
        operation: 'listAllApplications',
        kind: 'list',
        list: 'applications',
        first: Number.POSITIVE_INFINITY,
        query: { developer: { parameter: 'developerId', value: 'ID', text: 'only applications of this developer' } },
        examples: ['lapel admin application list', 'lapel admin application list --developer acme'],
      },
      {
        verb: 'show',
        summary: 'Shows an application: its settings, the age of its key, its number of activated devices',
        operation: 'readApplication',
        arguments: { APPLICATION: 'applicationId' },
        examples: ['lapel admin application show patrol'],
      },
      {
        verb: 'update',
        summary: 'Changes how an application gets its tokens: by its secret too, or by its certificates only',
        operation: 'updateApplication',
        arguments: { APPLICATION: 'applicationId' },
        fields: {
          authentication: {
            field: 'authentication',
            value: 'secret|certificate',
            text: 'whether its secret gets tokens, besides its certificates',
          },
        },
        examples: ['lapel admin application update patrol --authentication certificate'],
      },
      {
        verb: 'secret',
        isNoun: true,
        summary: 'Replaces the secret of an application; the old one becomes invalid at once',
        about: 'Access tokens that were issued for the old secret become invalid, too.',
        operation: 'replaceSecret',
        arguments: { APPLICATION: 'applicationId' },
        note: SHOWN_ONCE,
        examples: ['lapel admin application secret patrol'],
      },
      {
        verb: 'delete',
        summary: 'Deletes an application without activated devices; its tokens become invalid',
        operation: 'deleteApplication',
        arguments: { APPLICATION: 'applicationId' },
        done: 'deleted',
        examples: ['lapel admin application delete patrol'],
      },
    ],
  },
  CERTIFICATES,
  SECRETS,
  REMOVALS,
  DEVICES,
  NOTES,
  ENROLMENT,
  DEVICE_CAS,
  DEVICE_ACTIONS,
  TRANSACTIONS,
  ROLLOUTS,
  PACKAGES,
  software('system-package', {
    thing: 'system packages',
    list: 'systemPackages',
    example: 'com.lapel.launcher 2.0.0',
    file: 'launcher-2.0.0.apk',
    operations: {
      list: 'listSystemPackages',
      put: 'putSystemPackage',
      remove: 'removeSystemPackage',
      issueUrl: 'issueSystemPackageUrl',
    },
  }),
  software('firmware', {
    thing: 'firmware packages',
    list: 'firmwareVersions',
    example: 'com.lapel.firmware 9.2.0',
    file: 'camera-9.2.0.img --package com.lapel.firmware --version 9.2.0',
    operations: {
      list: 'listFirmwareVersions',
      put: 'putFirmware',
      remove: 'removeFirmware',
      issueUrl: 'issueFirmwareUrl',
    },
  }),
  CALLER,
  PEOPLE,
  TOKENS,
  ADMINISTRATOR_TOKEN,
  SESSION,
  SEARCH,
  SETTINGS,
  FLEET,
  RECEIVERS,
  DELIVERIES,
  AUDIT,
  {
    resource: 'binary-warning',
    columns: [
      column('PACKAGE', 'package'),
      column('VERSION', 'version'),
      date('READ', 'readAt'),
      flexible('WARNING', 'warning'),
    ],
    verbs: [
      {
        verb: 'list',
        summary: 'Lists uploads whose file differs from its registration, or cannot be read as an APK',
        operation: 'listBinaryWarnings',
        kind: 'list',
        list: 'warnings',
        examples: ['lapel admin binary-warning list'],
      },
    ],
  },
];
