import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, type ZipFile } from 'yauzl';
import { ApkError, type ApkFault } from './apk-error.ts';
import { type ApkSource, type BoundedSource, createBoundedSource, SourceReader } from './bounded-source.ts';
import { type ApkManifest, type ManifestParts, readManifestParts, refersToResources } from './manifest.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { readResourceTable } from './resource-table.ts';
import { readCertificates } from './signing-block.ts';

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

const MANIFEST = Buffer.from('AndroidManifest.xml');
const RESOURCES = Buffer.from('resources.arsc');
// Bounds of one reading, in bytes: of the manifest (both packed and unpacked) and of the archive's directory. Large real
// APKs have manifests of 300 KB and directories of 2 MB. Few tables of resources are larger than 3 MB; one is only read when
// the manifest refers to it for its version.
const LARGEST_MANIFEST = 1024 ** 2;
const LARGEST_RESOURCES = 4 * 1024 ** 2;
const LARGEST_DIRECTORY = 4 * 1024 ** 2;
const LIMITS = { reads: 14, bytes: 8 * 1024 ** 2 };
const SMALLEST_ENTRY = 46;
const STORED = 0;
const DEFLATED = 8;
// Reading an entry of the directory, which is in memory, never waits. So the loop over the entries lets other work run
// after this many.
const ENTRIES_PER_TURN = 100;

/** The statements of an APK about itself. */
export interface ApkFile extends ApkManifest {
  /** The SHA-256 of the certificates of its signers; empty when none was found. */
  certificates: string[];
}

/** A part that could not be read. */
interface Unread {
  reason: ApkFault;
  message: string;
}

/** The statements of an APK about itself, each read independently of the others; null where it could not be read. */
export interface ApkParts {
  package: string | null;
  versionName: string | null;
  versionCode: number | null;
  /** The SHA-256 of the certificates of its signers; empty when the file has none of the known schemes. */
  certificates: string[] | null;
  /** The reasons for what could not be read. */
  unread: Partial<Record<'manifest' | 'versionName' | 'versionCode' | 'certificates', Unread>>;
  /** The reasons why Android refuses the archive. */
  refusals: string[];
}

const NO_MANIFEST = { package: null, versionName: null, versionCode: null };
const unreadOf = ({ reason, message }: ApkError): Unread => ({ reason, message });

/** Reads the whole of an APK, as readApkParts does. Throws ApkError when the manifest, or a part of it, cannot be read. */
export async function readApk(source: ApkSource): Promise<ApkFile> {
  const { unread, certificates, package: name, versionName, versionCode } = await readApkParts(source);
  const fault = unread.manifest ?? unread.versionCode ?? unread.versionName;
  if (fault) throw new ApkError(fault.reason, fault.message);
  return { package: name!, versionName, versionCode: versionCode!, certificates: certificates ?? [] };
}

/**
 * Reads package, versionName, versionCode and certificates of a remote APK, in a few reads of small parts. The file may be hostile:
 * reads, bytes and memory are bounded, and a file that contradicts itself is refused. Throws ApkError for a file that is
 * not an archive; an error of `source.read` is thrown unchanged.
 */
export async function readApkParts(source: ApkSource): Promise<ApkParts> {
  const bounded = createBoundedSource(source, LIMITS);
  try {
    const { zip, directory } = await openDirectory(source.size, bounded);
    const refusals = createRefusals(directory);
    const unread: ApkParts['unread'] = {};
    const manifest = await partOf(
      () => readManifestOf({ zip, directory, source: bounded }, refusals),
      (fault) => {
        unread.manifest = fault;
      },
    );
    const certificates = await partOf(
      () => readCertificates(directory, bounded),
      (fault) => {
        unread.certificates = fault;
      },
    );
    await refusals.checkBeginning(bounded);
    const failure = bounded.failure();
    if (failure) throw failure.error;
    return { ...partsOf(manifest, unread), certificates, unread, refusals: refusals.found() };
  } catch (error) {
    const failure = bounded.failure();
    if (failure) throw failure.error;
    if (error instanceof ApkError) throw error;
    throw new ApkError('archive_damaged', 'the archive is damaged', error);
  }
}

function partsOf(
  manifest: ManifestParts | null,
  unread: ApkParts['unread'],
): Pick<ApkParts, 'package' | 'versionName' | 'versionCode'> {
  if (!manifest) return NO_MANIFEST;
  const { unread: faults, ...read } = manifest;
  if (faults.versionName) unread.versionName = unreadOf(faults.versionName);
  if (faults.versionCode) unread.versionCode = unreadOf(faults.versionCode);
  return read;
}

/** Reads a part of the file; null when it cannot be read, for which `unread` gets the reason. */
async function partOf<Value>(read: () => Promise<Value>, unread: (fault: Unread) => void): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    const fault = error instanceof ApkError ? error : new ApkError('archive_damaged', 'the archive is damaged', error);
    unread(unreadOf(fault));
    return null;
  }
}

async function openDirectory(size: number, source: BoundedSource): Promise<{ zip: ZipFile; directory: number }> {
  const zip = await openArchive(size, source);
  const directory = zip.readEntryCursor as unknown as number; // yauzl's types are wrong here: the value is a number
  const length = size - directory;
  if (length < 0) throw new ApkError('archive_damaged', 'the directory lies outside of the file');
  if (length > LARGEST_DIRECTORY) throw new ApkError('too_large', 'the directory of the archive is too large');
  if (zip.entryCount * SMALLEST_ENTRY > length)
    throw new ApkError('archive_damaged', 'the directory is too small for its number of entries');
  await source.part(directory, length); // one read; the reads below then find the directory in memory
  return { zip, directory };
}

interface Archive {
  zip: ZipFile;
  /** Where the directory of the archive begins. */
  directory: number;
  source: BoundedSource;
}

async function readManifestOf(archive: Archive, refusals: Refusals): Promise<ManifestParts> {
  const { manifest, resources } = await findEntries(archive.zip, refusals);
  const document = await readFile(archive, manifest, {
    name: MANIFEST,
    what: 'the manifest',
    largest: LARGEST_MANIFEST,
  });
  const parts = readManifestParts(document);
  if (!resources || !refersToResources(parts)) return parts;
  try {
    const bounds = { name: RESOURCES, what: 'the table of resources', largest: LARGEST_RESOURCES };
    return readManifestParts(document, readResourceTable(await readFile(archive, resources, bounds)));
  } catch (error) {
    if (error instanceof ApkError) return parts;
    throw error;
  }
}

/** A file of the archive: its name, the words for it, and the most bytes that it may have, packed and unpacked. */
interface Wanted {
  name: Buffer;
  what: string;
  largest: number;
}

async function readFile({ zip, directory, source }: Archive, entry: Entry, wanted: Wanted): Promise<Buffer> {
  const start = await findData(zip, entry, directory, wanted);
  return unpack(entry, await source.part(start, entry.compressedSize), wanted);
}

async function openArchive(size: number, source: BoundedSource): Promise<ZipFile> {
  try {
    // Names stay bytes, as Android compares them. An undecodable name of another entry must not make the APK unreadable.
    return await fromRandomAccessReaderPromise(new SourceReader(source), size, {
      decodeStrings: false,
      autoClose: false,
    });
  } catch (error) {
    if (error instanceof ApkError) throw error;
    throw new ApkError('not_an_archive', 'the file is not a zip archive', error);
  }
}

/**
 * Finds the one entry named AndroidManifest.xml, and the table of resources, if there is one. Android refuses archives with
 * two entries of a name, so this does too.
 */
async function findEntries(zip: ZipFile, refusals: Refusals): Promise<{ manifest: Entry; resources?: Entry }> {
  let manifest: Entry | undefined;
  let resources: Entry | undefined;
  let seen = 0;
  for await (const entry of zip.eachEntry()) {
    seen += 1;
    if (seen % ENTRIES_PER_TURN === 0) await setImmediate();
    refusals.check(entry);
    const name = entry.fileName as unknown as Buffer;
    if (RESOURCES.equals(name)) resources ??= entry;
    if (!MANIFEST.equals(name)) continue;
    if (manifest) throw new ApkError('archive_damaged', 'the archive has two manifests');
    manifest = entry;
  }
  if (!manifest) throw new ApkError('manifest_missing', 'the archive has no AndroidManifest.xml');
  return { manifest, ...(resources && { resources }) };
}

/**
 * Finds where the packed bytes of an entry begin. The header of the file must agree with its entry in the directory, as
 * Android demands.
 */
async function findData(
  zip: ZipFile,
  entry: Entry,
  directory: number,
  { name, what, largest }: Wanted,
): Promise<number> {
  if (entry.isEncrypted()) throw new ApkError('unsupported', `${what} is encrypted`);
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw new ApkError('unsupported', `${what} is compressed in an unknown way`);
  }
  if (entry.compressedSize > largest || entry.uncompressedSize > largest) {
    throw new ApkError('too_large', `${what} is too large`);
  }
  const header = await zip.readLocalFileHeaderPromise(entry);
  const agrees = name.equals(header.fileName) && header.compressionMethod === entry.compressionMethod;
  if (!agrees || header.fileDataStart + entry.compressedSize > directory) {
    throw new ApkError('archive_damaged', `the header of ${what} does not agree with the directory of the archive`);
  }
  return header.fileDataStart;
}

async function unpack(entry: Entry, packed: Buffer, { what, largest }: Wanted): Promise<Buffer> {
  const bytes = entry.compressionMethod === STORED ? packed : await inflate(packed, { maxOutputLength: largest });
  if (bytes.length !== entry.uncompressedSize || crc32(bytes) !== entry.crc32) {
    throw new ApkError('archive_damaged', `${what} does not match its checksum`);
  }
  return bytes;
}
