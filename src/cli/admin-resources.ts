import type { Option } from './command-line.ts';
import { type Column, fieldText } from './table.ts';

type Row = Readonly<Record<string, unknown>>;

/** An operation of the administration API as a command. */
export interface Verb {
  verb: string;
  summary: string;
  method: string;
  /** Its `{parameters}` are the arguments of the command, in their order. */
  path: string;
  /** `list`: all pages of it; `upload`: the file is sent to the URL that comes back; without: one request. */
  kind?: 'list' | 'upload';
  /** Options that become fields of the body. */
  fields?: Readonly<Record<string, Option & { field: string }>>;
  /** Where the rows of a list are. */
  list?: string;
  /** A path that is PUT first, with the fields: what an upload registers. */
  registerPath?: string;
  /** What people see after it, in the past tense. */
  done?: string;
  examples?: readonly string[];
}

export interface Resource {
  resource: string;
  columns: readonly Column<Row>[];
  verbs: readonly Verb[];
}

const column = (head: string, field: string): Column<Row> => ({ head, cell: (row) => fieldText(row[field]) });
const date = (head: string, field: string): Column<Row> => ({
  head,
  cell: (row) => fieldText(row[field]).slice(0, 19).replace('T', ' '),
});

const SOFTWARE_COLUMNS = [
  column('PACKAGE', 'package'),
  column('VERSION', 'version'),
  date('UPDATED', 'updateDate'),
  column('NAME', 'displayName'),
  column('DESCRIPTION', 'description'),
];
const TEXTS = {
  'display-name': { field: 'displayName', value: 'TEXT', text: 'display name of the package' },
  description: { field: 'description', value: 'TEXT', text: 'description of the version' },
};

/** What the service itself distributes: system packages and firmware have the same operations. */
const software = (
  resource: string,
  { thing, path, list, example, file }: Record<'thing' | 'path' | 'list' | 'example' | 'file', string>,
): Resource => ({
  resource,
  columns: SOFTWARE_COLUMNS,
  verbs: [
    { verb: 'list', summary: `${thing} and versions`, method: 'GET', path, kind: 'list', list },
    {
      verb: 'put',
      summary: 'Registers a version, or changes its texts',
      method: 'PUT',
      path: `${path}/{package}/versions/{version}`,
      fields: TEXTS,
      examples: [`lapel admin ${resource} put ${example} --description 'steadier picture'`],
    },
    {
      verb: 'delete',
      summary: 'Removes a version and its file',
      method: 'DELETE',
      path: `${path}/{package}/versions/{version}`,
      done: 'deleted',
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

/** All of `lapel admin`: a resource a row, a verb a row. */
export const RESOURCES: readonly Resource[] = [
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
  {
    resource: 'binary-warning',
    columns: [
      column('PACKAGE', 'package'),
      column('VERSION', 'version'),
      date('READ', 'readAt'),
      column('WARNING', 'warning'),
    ],
    verbs: [
      {
        verb: 'list',
        summary: 'Uploads whose file says something else than was registered',
        method: 'GET',
        path: '/admin/v1/binary-warnings',
        kind: 'list',
        list: 'warnings',
      },
    ],
  },
];
