import { column, date, type Field, flexible, type Resource, type Verb } from './admin-resource.ts';
import { AUDIT } from './audit-resource.ts';
import { SESSION } from './session-resource.ts';

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
const CREDENTIAL: Field = {
  field: 'credential',
  value: 'C',
  text: 'its credential, 32 characters or more; without, the service makes one',
};
const HARDWARE: Field = {
  field: 'hardwareProperties',
  value: 'FILE',
  kind: 'json',
  file: true,
  text: 'file with its hardware properties as JSON (- is standard input)',
};
const SHOWN_ONCE = 'It is shown here and never again.';

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
    ],
  },
  {
    resource: 'application',
    columns: [
      column('APPLICATION', 'applicationId'),
      column('DEVELOPER', 'developerId'),
      flexible('NAME', 'name'),
      date('CREATED', 'createdAt'),
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
        summary: 'The applications of a developer',
        method: 'GET',
        path: '/admin/v1/developers/{developerId}/applications',
        kind: 'list',
        list: 'applications',
        examples: ['lapel admin application list --developer acme'],
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
  {
    resource: 'device',
    columns: [
      column('DEVICE', 'deviceId'),
      column('DEVELOPER', 'developerId'),
      { ...column('ACTIVATION', 'activation'), state: true },
      column('APPLICATION', 'applicationId'),
      { head: 'BLOCKED', cell: ({ blocked }) => (blocked ? 'blocked' : '') },
      date('CREATED', 'createdAt'),
    ],
    verbs: [
      {
        verb: 'register',
        summary: 'A new device of a developer, with its credential',
        method: 'POST',
        path: '/admin/v1/developers/{developerId}/devices',
        arguments: { DEVICE: 'deviceId' },
        fields: { hardware: HARDWARE, credential: CREDENTIAL },
        note: 'The credential, which is the MQTT password of the device, is shown here and never again.',
        examples: [
          'lapel admin device register 490154203237518 --developer acme',
          'lapel admin device register 490154203237518 --developer acme --hardware camera.json',
        ],
      },
      {
        verb: 'list',
        summary: 'The devices of a developer',
        method: 'GET',
        path: '/admin/v1/developers/{developerId}/devices',
        kind: 'list',
        list: 'devices',
        examples: ['lapel admin device list --developer acme'],
      },
      {
        verb: 'show',
        summary: 'One device, and where it is activated',
        method: 'GET',
        path: '/admin/v1/devices/{deviceId}',
        arguments: { DEVICE: 'deviceId' },
        examples: ['lapel admin device show 490154203237518'],
      },
      {
        verb: 'update',
        summary: 'Replaces the hardware properties of a device, or moves it to another developer',
        method: 'PATCH',
        path: '/admin/v1/devices/{deviceId}',
        arguments: { DEVICE: 'deviceId' },
        fields: {
          hardware: { ...HARDWARE, none: 'the device has no hardware properties any more' },
          developer: { field: 'developerId', value: 'ID', text: 'the developer whose it is from now on' },
        },
        examples: [
          'lapel admin device update 490154203237518 --hardware camera.json',
          'lapel admin device update 490154203237518 --developer globex',
        ],
      },
      {
        verb: 'delete',
        summary: 'Removes a device that is not activated; or, by force, any',
        about:
          'With --force an application that has it activated is told that it was deactivated, and what was cancelled.',
        method: 'DELETE',
        path: '/admin/v1/devices/{deviceId}',
        arguments: { DEVICE: 'deviceId' },
        flags: { force: { text: 'also a device that is activated: what is unfinished ends' } },
        done: 'deleted',
        examples: ['lapel admin device delete 490154203237518', 'lapel admin device delete 490154203237518 --force'],
      },
      {
        verb: 'block',
        summary: 'Closes the connection of a device and lets it connect no more; what it is told to do waits',
        method: 'PATCH',
        path: '/admin/v1/devices/{deviceId}',
        arguments: { DEVICE: 'deviceId' },
        body: { blocked: true },
        examples: ['lapel admin device block 490154203237518'],
      },
      {
        verb: 'unblock',
        summary: 'Lets a device that was blocked connect again',
        method: 'PATCH',
        path: '/admin/v1/devices/{deviceId}',
        arguments: { DEVICE: 'deviceId' },
        body: { blocked: false },
        examples: ['lapel admin device unblock 490154203237518'],
      },
      {
        verb: 'credential',
        summary: 'Replaces the credential of a device; the old one stops at once, its connection is closed',
        about: 'Client certificates of the device stop too, but for the one whose fingerprint is named.',
        method: 'POST',
        path: '/admin/v1/devices/{deviceId}/credential',
        arguments: { DEVICE: 'deviceId' },
        fields: {
          credential: CREDENTIAL,
          certificate: {
            field: 'certificateFingerprint',
            value: 'SHA256',
            text: 'fingerprint of the client certificate that it may log in with from now on; without, with none',
          },
        },
        note: SHOWN_ONCE,
        examples: ['lapel admin device credential 490154203237518'],
      },
    ],
  },
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
