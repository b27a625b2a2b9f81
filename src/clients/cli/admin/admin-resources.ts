import { column, date, type Field, flexible, type Resource, SHOWN_ONCE, type Verb } from './admin-resource.ts';
import { AUDIT } from './audit-resource.ts';
import { DEVICES } from './device-resource.ts';
import { FLEET } from './fleet-resource.ts';
import { PACKAGES, SEARCH, SETTINGS, TRANSACTIONS } from './fleet-resources.ts';
import { SESSION } from './session-resource.ts';
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
    none: 'the package has no display name any more',
  },
  description: {
    field: 'description',
    value: 'TEXT',
    text: 'description of the version',
    none: 'the version has no description any more',
  },
};
const VERSION = { PACKAGE: 'package', VERSION: 'version' };

/** What the service itself distributes: system packages and firmware have the same operations. */
const software = (
  resource: string,
  { thing, path, list, example, file }: Record<'thing' | 'path' | 'list' | 'example' | 'file', string>,
): Resource => ({
  resource,
  columns: SOFTWARE_COLUMNS,
  verbs: [
    {
      verb: 'list',
      summary: `${thing} and versions`,
      method: 'GET',
      path,
      kind: 'list',
      list,
      examples: [`lapel admin ${resource} list`],
    },
    {
      verb: 'put',
      summary: 'Registers a version, or changes its texts',
      method: 'PUT',
      path: `${path}/{package}/versions/{version}`,
      arguments: VERSION,
      fields: TEXTS,
      examples: [
        `lapel admin ${resource} put ${example} --description 'steadier picture'`,
        `lapel admin ${resource} put ${example} --no-display-name`,
      ],
    },
    {
      verb: 'delete',
      summary: 'Removes a version and its file',
      method: 'DELETE',
      path: `${path}/{package}/versions/{version}`,
      arguments: VERSION,
      done: 'deleted',
      examples: [`lapel admin ${resource} delete ${example}`],
    },
    {
      verb: 'upload',
      summary: 'Registers a version and uploads its file',
      method: 'POST',
      path: `${path}/{package}/versions/{version}/binaries`,
      kind: 'upload',
      registerPath: `${path}/{package}/versions/{version}`,
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
const NAME: Field = { field: 'name', value: 'TEXT', text: 'its name, for people' };
/** All of `lapel admin` but the import of devices: a resource a row, a verb a row. */
export const RESOURCES: readonly Resource[] = [
  {
    resource: 'developer',
    columns: [column('DEVELOPER', 'developerId'), flexible('NAME', 'name'), column('DEVICE LIMIT', 'deviceLimit')],
    verbs: [
      {
        verb: 'create',
        summary: 'A new developer; without a device limit there is no contract',
        method: 'POST',
        path: '/admin/v1/developers',
        arguments: { '[DEVELOPER]': 'developerId' },
        fields: { name: NAME, 'device-limit': LIMIT },
        examples: ['lapel admin developer create acme --name Acme --device-limit 10'],
      },
      {
        verb: 'list',
        summary: 'All developers',
        method: 'GET',
        path: '/admin/v1/developers',
        kind: 'list',
        list: 'developers',
        examples: ['lapel admin developer list', 'lapel admin developer list --json | jq .total'],
      },
      {
        verb: 'show',
        summary: 'One developer and the contract',
        method: 'GET',
        path: '/admin/v1/developers/{developerId}',
        arguments: { DEVELOPER: 'developerId' },
        examples: ['lapel admin developer show acme'],
      },
      {
        verb: 'update',
        summary: 'Changes the name or the contract of a developer',
        method: 'PATCH',
        path: '/admin/v1/developers/{developerId}',
        arguments: { DEVELOPER: 'developerId' },
        fields: {
          name: NAME,
          'device-limit': { ...LIMIT, none: 'ends the contract: activated devices stay, no more are activated' },
        },
        examples: [
          'lapel admin developer update acme --device-limit 500',
          'lapel admin developer update acme --no-device-limit',
        ],
      },
      {
        verb: 'delete',
        summary: 'Deletes a developer without applications, devices and packages',
        method: 'DELETE',
        path: '/admin/v1/developers/{developerId}',
        arguments: { DEVELOPER: 'developerId' },
        done: 'deleted',
        examples: ['lapel admin developer delete acme'],
      },
    ],
  },
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
        summary: 'A new application of a developer, with its secret',
        method: 'POST',
        path: '/admin/v1/developers/{developerId}/applications',
        arguments: { '[APPLICATION]': 'applicationId' },
        fields: { name: NAME },
        note: 'The secret is shown here and never again: lapel login remembers it.',
        examples: ['lapel admin application create patrol --developer acme --name Patrol'],
      },
      {
        verb: 'list',
        summary: 'Applications of all developers, or of one; times are in UTC',
        method: 'GET',
        path: '/admin/v1/applications',
        kind: 'list',
        list: 'applications',
        first: Number.POSITIVE_INFINITY,
        query: { developer: { parameter: 'developerId', value: 'ID', text: 'only applications of this developer' } },
        examples: ['lapel admin application list', 'lapel admin application list --developer acme'],
      },
      {
        verb: 'show',
        summary: 'One application: its settings, the age of its key, how many devices are activated',
        method: 'GET',
        path: '/admin/v1/applications/{applicationId}',
        arguments: { APPLICATION: 'applicationId' },
        examples: ['lapel admin application show patrol'],
      },
      {
        verb: 'secret',
        summary: 'Replaces the secret of an application; the old one stops at once',
        about: 'Access tokens that were issued with the old one live on until they expire, an hour at most.',
        method: 'POST',
        path: '/admin/v1/applications/{applicationId}/secret',
        arguments: { APPLICATION: 'applicationId' },
        note: SHOWN_ONCE,
        examples: ['lapel admin application secret patrol'],
      },
      {
        verb: 'delete',
        summary: 'Deletes an application without activated devices, and stops its tokens',
        method: 'DELETE',
        path: '/admin/v1/applications/{applicationId}',
        arguments: { APPLICATION: 'applicationId' },
        done: 'deleted',
        examples: ['lapel admin application delete patrol'],
      },
    ],
  },
  DEVICES,
  TRANSACTIONS,
  PACKAGES,
  software('system-package', {
    thing: 'System packages',
    path: '/admin/v1/system-packages',
    list: 'systemPackages',
    example: 'com.lapel.launcher 2.0.0',
    file: 'launcher-2.0.0.apk',
  }),
  software('firmware', {
    thing: 'Firmware',
    path: '/admin/v1/firmware',
    list: 'firmwareVersions',
    example: 'com.lapel.firmware 9.2.0',
    file: 'camera-9.2.0.img --package com.lapel.firmware --version 9.2.0',
  }),
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
        summary: 'Uploads whose file says something else than was registered',
        method: 'GET',
        path: '/admin/v1/binary-warnings',
        kind: 'list',
        list: 'warnings',
        examples: ['lapel admin binary-warning list'],
      },
    ],
  },
];
