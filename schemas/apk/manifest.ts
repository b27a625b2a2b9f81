import { ApkError } from './apk-error.ts';
import { type Attribute, readRootElement } from './binary-xml.ts';
import type { StringPool } from './chunks.ts';
import type { readResourceTable } from './resource-table.ts';
import { INTEGERS, REFERENCES, STRING, type Value } from './values.ts';

/** The package and the version that an APK states in its manifest. */
export interface ApkManifest {
  package: string;
  /** Null when the manifest has no versionName. */
  versionName: string | null;
  /** Android's long version code: `versionCodeMajor` in the upper 32 bits. 0 when the manifest has no version code. */
  versionCode: number;
}

/** A manifest whose parts were read independently of each other; what could not be read is null. */
export interface ManifestParts extends Omit<ApkManifest, 'versionCode'> {
  versionCode: number | null;
  unread: { versionName?: ApkError; versionCode?: ApkError };
}

// android.R.attr
const VERSION_CODE = 0x0101021b;
const VERSION_NAME = 0x0101021c;
const VERSION_CODE_MAJOR = 0x01010576;
const PACKAGE = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/;
const LONGEST_NAME = 255;

const damaged = (what: string): ApkError => new ApkError('manifest_damaged', `the manifest is damaged: ${what}`);

/** Reads a part; when it cannot be read, `unread` gets the reason, and the result is null. */
function partOf<Value>(read: () => Value, unread: (error: ApkError) => void): Value | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApkError)) throw error;
    unread(error);
    return null;
  }
}

/** Finds the values of resources. */
type Resources = ReturnType<typeof readResourceTable>;

/** Whether a part of a manifest is unread because it refers to a resource. */
export const refersToResources = ({ unread }: ManifestParts): boolean =>
  [unread.versionName, unread.versionCode].some((error) => error?.reason === 'unsupported');

/**
 * Reads a binary AndroidManifest.xml as Android does: Android's own attributes by resource identifier, `package` by its
 * name. Versions that refer to resources are only read with `resources`. Throws an ApkError when no package can be read.
 */
export function readManifestParts(document: Buffer, resources?: Resources): ManifestParts {
  const root = readRootElement(document);
  const { strings } = root;
  if (!strings.is(root.name, 'manifest')) throw damaged('its root element is not a manifest');
  const label = ({ name }: Attribute): string => strings.text(name, LONGEST_NAME);

  function only(found: Attribute[]): Attribute | undefined {
    if (found.length > 1) throw damaged('an attribute comes twice');
    return found[0];
  }
  const known = (resource: number) => only(root.attributes.filter((each) => each.resource === resource));

  /** The value of an attribute, or of the resource to which it refers. */
  function resolve(attribute: Attribute): { value: Value; strings: StringPool } {
    if (!REFERENCES.includes(attribute.type)) return { value: attribute, strings };
    const unsupported = (cause?: unknown) =>
      new ApkError('unsupported', `${label(attribute)} is a reference to a resource`, cause);
    if (!resources) throw unsupported();
    try {
      return resources(attribute.data);
    } catch (cause) {
      throw cause instanceof ApkError ? unsupported(cause) : cause;
    }
  }
  function text(attribute: Attribute | undefined): string | null {
    if (!attribute) return null;
    const found = resolve(attribute);
    if (found.value.type !== STRING) throw damaged(`${label(attribute)} is not a text`);
    return found.strings.text(found.value.data, LONGEST_NAME);
  }
  function integer(attribute: Attribute | undefined): number {
    if (!attribute) return 0;
    const { value } = resolve(attribute);
    if (!INTEGERS.includes(value.type)) throw damaged(`${label(attribute)} is not a number`);
    return value.data;
  }

  const named = root.attributes.filter((each) => !each.qualified && strings.is(each.name, 'package'));
  const packageName = text(only(named)) ?? '';
  if (!PACKAGE.test(packageName)) throw damaged('its package attribute is not a package name');
  function code(): number {
    const versionCode = integer(known(VERSION_CODE_MAJOR)) * 2 ** 32 + integer(known(VERSION_CODE));
    if (!Number.isSafeInteger(versionCode)) throw new ApkError('too_large', 'the version code is too large');
    return versionCode;
  }
  const unread: ManifestParts['unread'] = {};
  const versionCode = partOf(code, (error) => {
    unread.versionCode = error;
  });
  const name = (): string | null => text(known(VERSION_NAME));
  const versionName = partOf(name, (error) => {
    unread.versionName = error;
  });
  return { package: packageName, versionName, versionCode, unread };
}

/** Reads a whole manifest. Throws an ApkError when a part of it cannot be read. */
export function readManifest(document: Buffer): ApkManifest {
  const { unread, versionCode, ...rest } = readManifestParts(document);
  const error = unread.versionCode ?? unread.versionName;
  if (error) throw error;
  return { ...rest, versionCode: versionCode ?? 0 };
}
