import { dirname, resolve } from 'node:path';
import { writtenPath, type YamlPath } from '@lapel/schemas/base/yaml-place';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { FileFault, Place } from './place.ts';
import type { ReadFile } from './read-file.ts';

type Content = SchemaTypes['files/configuration'];
type Administration = NonNullable<Content['administration']>;
type Developer = NonNullable<Administration['developers']>[number];

/** An object that a file declares, and where. */
export interface Entry<Value> {
  /** The values, with the texts of references in their place. */
  value: Value;
  /** The values as the file has them: these are shown. */
  written: Value;
  place: Place;
  /** The path of the file, by which the files that it names are found. */
  path: string;
}

export interface DeveloperEntry extends Entry<Developer> {
  applications: Entry<NonNullable<Developer['applications']>[number]>[];
  members: Entry<NonNullable<Developer['members']>[number]>[];
  enrolmentBatches: Entry<NonNullable<Developer['enrolmentBatches']>[number]>[];
}

type Package = NonNullable<Content['packages']>[number];
export interface PackageEntry extends Entry<Package> {
  versions: Entry<NonNullable<Package['versions']>[number]>[];
}

export type Exclusive = NonNullable<Content['exclusive']>[number];

/** All that a folder declares. */
export interface Configuration {
  application: string | undefined;
  settings: Entry<NonNullable<Content['settings']>>[];
  endpoints: Entry<NonNullable<Content['endpoints']>[number]>[];
  tags: Entry<NonNullable<Content['tags']>[number]>[];
  packages: PackageEntry[];
  rollouts: Entry<NonNullable<Content['rollouts']>[number]>[];
  developers: DeveloperEntry[];
  people: Entry<NonNullable<Administration['people']>[number]>[];
  /** The lists that are whole: an object that is not in them is removed. */
  exclusive: ReadonlySet<Exclusive>;
}

function entriesOf<Value>(file: ReadFile, ...path: YamlPath): Entry<Value>[] {
  const read = (from: unknown): Value[] => {
    let inner: unknown = from;
    for (const key of path) inner = (inner as Record<string | number, unknown> | undefined)?.[key];
    return (inner ?? []) as Value[];
  };
  const plain = read(file.written);
  return read(file.content).map((value, index) => ({
    value,
    written: plain[index] as Value,
    place: file.at([...path, index]),
    path: file.path,
  }));
}

/** Refuses a second object of the same identity: of two declarations nobody knows which one holds. */
function once<Value>(
  entries: readonly Entry<Value>[],
  field: string,
  identity: (value: Value) => readonly (string | undefined)[],
): FileFault[] {
  const seen = new Map<string, Place>();
  return entries.flatMap(({ value, place }) => {
    const names = identity(value).flatMap((name, index) => (name === undefined ? [] : [`${index}:${name}`]));
    const before = names.map((name) => seen.get(name)).find((one) => one !== undefined);
    for (const name of names) seen.set(name, place);
    if (before === undefined) return [];
    return [{ ...place, field, text: `is declared already, at ${before.file}:${before.line}` }];
  });
}

function duplicates(all: Configuration): FileFault[] {
  const settings = all.settings.flatMap(({ value, ...entry }) =>
    Object.keys(value).map((name) => ({ ...entry, value: name, written: name })),
  );
  return [
    ...once(settings, 'settings', (name) => [name]),
    ...once(all.endpoints, 'endpoints', ({ endpointId, description }) => [endpointId, description]),
    ...once(all.tags, 'tags', ({ name }) => [name]),
    ...once(all.packages, 'packages', (one) => [one.package]),
    ...all.packages.flatMap(({ versions }) => once(versions, 'versions', ({ version }) => [version])),
    ...once(all.rollouts, 'rollouts', ({ label }) => [label]),
    ...once(all.developers, 'administration.developers', ({ developerId }) => [developerId]),
    ...once(
      all.developers.flatMap(({ applications }) => applications),
      'applications',
      ({ applicationId }) => [applicationId],
    ),
    ...all.developers.flatMap(({ members, enrolmentBatches }) => [
      ...once(members, 'members', ({ name }) => [name]),
      ...once(enrolmentBatches, 'enrolmentBatches', ({ name }) => [name]),
    ]),
    ...once(all.people, 'administration.people', ({ personId }) => [personId]),
  ];
}

function nameless({ endpoints }: Configuration): FileFault[] {
  return endpoints
    .filter(({ value }) => value.endpointId === undefined && value.description === undefined)
    .map(({ place }) => ({
      ...place,
      field: 'endpoints',
      text: 'an endpoint needs a description, by which it is found; or an endpointId',
    }));
}

/**
 * An exclusive list must be in one file, so that a file that is missing removes nothing: the list would else be shorter
 * than its author meant it.
 */
function divided(files: readonly ReadFile[]): FileFault[] {
  return files.flatMap((file) =>
    (file.content.exclusive ?? []).flatMap((kind, index): FileFault[] => {
      const at = { ...file.at(['exclusive', index]), field: writtenPath(['exclusive', index]) };
      const other = files.find((one) => one !== file && one.content[kind] !== undefined);
      if (file.content[kind] === undefined) return [{ ...at, text: `this file has no ${kind}; write ${kind}: []` }];
      return other ? [{ ...at, text: `${other.name} has ${kind} as well; an exclusive list is in one file` }] : [];
    }),
  );
}

/** Two secrets cannot be written to one file: the second would be refused when the object is made already. */
function sharedFiles({ endpoints, developers }: Configuration): FileFault[] {
  const of = (field: 'secretTo' | 'tokenTo' | 'codeTo', entries: readonly Entry<object>[]) =>
    entries.flatMap((entry) => {
      const name = (entry.value as Record<string, string | undefined>)[field];
      return name === undefined ? [] : [{ ...entry, value: resolve(dirname(entry.path), name), written: '' }];
    });
  const all = [
    ...of('secretTo', endpoints),
    ...developers.flatMap(({ applications, members, enrolmentBatches }) => [
      ...of('secretTo', applications),
      ...of('tokenTo', members),
      ...of('codeTo', enrolmentBatches),
    ]),
  ];
  return once(all, 'the file of a secret', (path) => [path]);
}

/** Puts the files of a folder together. Gives the configuration, or its faults. */
export function configurationOf(files: readonly ReadFile[]): Configuration | FileFault[] {
  const from = <Value>(...path: YamlPath): Entry<Value>[] => files.flatMap((file) => entriesOf<Value>(file, ...path));
  const packages = files.flatMap((file) =>
    entriesOf<Package>(file, 'packages').map((entry, index) => ({
      ...entry,
      versions: entriesOf<PackageEntry['versions'][number]['value']>(file, 'packages', index, 'versions'),
    })),
  );
  const developers = files.flatMap((file) =>
    entriesOf<Developer>(file, 'administration', 'developers').map((entry, index): DeveloperEntry => {
      const path = ['administration', 'developers', index] as const;
      return {
        ...entry,
        applications: entriesOf(file, ...path, 'applications'),
        members: entriesOf(file, ...path, 'members'),
        enrolmentBatches: entriesOf(file, ...path, 'enrolmentBatches'),
      };
    }),
  );
  const named = files.filter(({ content }) => content.application !== undefined);
  const others = named.filter(({ content }) => content.application !== named[0]?.content.application);
  const all: Configuration = {
    application: named[0]?.content.application,
    settings: files.flatMap((file) =>
      file.content.settings === undefined
        ? []
        : [
            {
              value: file.content.settings,
              written: file.written.settings ?? {},
              place: file.at(['settings']),
              path: file.path,
            },
          ],
    ),
    endpoints: from('endpoints'),
    tags: from('tags'),
    packages,
    rollouts: from('rollouts'),
    developers,
    people: from('administration', 'people'),
    exclusive: new Set(files.flatMap(({ content }) => content.exclusive ?? [])),
  };
  const faults = [
    ...others.map((file) => ({
      ...file.at(['application']),
      field: 'application',
      text: `another file is for ${String(all.application)}; a folder is for one application`,
    })),
    ...duplicates(all),
    ...nameless(all),
    ...divided(files),
    ...sharedFiles(all),
  ];
  return faults.length > 0 ? faults : all;
}
