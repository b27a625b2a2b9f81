import type { Database } from '../../platform/database/sql.ts';
import { type Candidate, isMatch, needsJudging } from './candidate.ts';
import {
  type CountedCandidate,
  countActivated,
  countTagged,
  findCandidates,
  findCandidatesAmong,
  findCandidatesOfSample,
  findSample,
} from './selection-repository.ts';
import type { Selector, Terms } from './selector.ts';
import { leadingTag } from './term-conditions.ts';

/** Up to this many devices are counted exactly. Of more, a sample of this size is counted. */
const MOST_COUNTED = 10_000;
/** The devices that one query reads. */
const PER_QUERY = 1_000;

interface Parts {
  database: Pick<Database, 'aside'>;
  /** The time at which a device was last heard of (microseconds), if it is newer than the stored one. */
  presence: { newerThanStored(deviceId: string): number | undefined };
  /** Selects those of the given devices that are connected, to any node. */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

/** The number of devices that match a selector, and what they have. */
export interface SelectionCount {
  matching: number;
  connected: number;
  /** True when only a sample was counted, so that all numbers are estimates. */
  isEstimate: boolean;
  /** The numbers of matching devices by their version of the package that was asked for; null: it is not installed. */
  versions: Map<string | null, number>;
  /** The numbers of matching devices by their reported firmware version; null: none was reported. */
  firmwareVersions: Map<string | null, number>;
}

export type Selection = ReturnType<typeof createSelection>;

const NO_TERMS: Terms = {};
const termsOf = (selector: Selector): Terms => ('terms' in selector ? selector.terms : NO_TERMS);

/**
 * Finds the devices of a selector: page by page, or how many there are. The database is queried on a thread of its own. It
 * cannot check all terms, so the devices that pass there are judged here, a bounded number at a time.
 */
export function createSelection({ database: { aside }, presence, connected }: Parts) {
  /** Keeps those of the candidates that match the terms which the database cannot check. */
  async function matching<Found extends Candidate>(found: readonly Found[], terms: Terms): Promise<readonly Found[]> {
    if (!needsJudging(terms)) return found;
    const kept = found.filter((candidate) => {
      const seenAt = Math.max(candidate.seenAt, presence.newerThanStored(candidate.deviceId) ?? 0);
      return isMatch({ ...candidate, seenAt }, terms);
    });
    if (terms.connected === undefined) return kept;
    const isConnected = await connected(kept.map(({ deviceId }) => deviceId));
    return kept.filter(({ deviceId }) => isConnected.has(deviceId) === terms.connected);
  }

  /** The candidates of a count, some at a time, and the number of devices that they stand for. */
  async function counted(
    applicationId: string,
    selector: Selector,
    asked: Omit<Parameters<typeof findCandidates>[1], 'applicationId' | 'terms'>,
  ): Promise<{ batches: AsyncIterable<CountedCandidate[]>; scale: number }> {
    const terms = termsOf(selector);
    const all = { applicationId, terms, ...asked };

    async function* among(deviceIds: readonly string[]) {
      for (let start = 0; start < deviceIds.length; start += PER_QUERY)
        yield await findCandidatesAmong(aside, all, deviceIds.slice(start, start + PER_QUERY));
    }
    async function* every() {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const batch: CountedCandidate[] = await findCandidates(aside, all, after, PER_QUERY);
        yield batch;
        after = batch.length < PER_QUERY ? undefined : batch.at(-1)?.deviceId;
      }
    }
    async function* sampled(highest: number) {
      for (
        let after: CountedCandidate | { lot: number; deviceId: string } | undefined = { lot: -1, deviceId: '' };
        after;
      ) {
        const page = { highest, after, limit: PER_QUERY };
        const batch: CountedCandidate[] = await findCandidatesOfSample(aside, all, page);
        yield batch;
        after = batch.length < PER_QUERY ? undefined : batch.at(-1);
      }
    }

    if ('devices' in selector) return { batches: among(selector.devices), scale: 1 };
    const total = await countActivated(aside, applicationId);
    if (total <= MOST_COUNTED || (await isFewTagged(applicationId, terms))) return { batches: every(), scale: 1 };
    const { highest, devices } = await findSample(aside, applicationId, MOST_COUNTED);
    return { batches: sampled(highest), scale: total / Math.max(devices, 1) };
  }

  /** Whether the tag through which the devices are found has few enough of them to count all. */
  async function isFewTagged(applicationId: string, terms: Terms): Promise<boolean> {
    const leading = leadingTag(terms);
    return (
      leading !== undefined && (await countTagged(aside, applicationId, leading, MOST_COUNTED + 1)) <= MOST_COUNTED
    );
  }

  return {
    matching,

    /**
     * Reads the activated devices of an application, some at a time: all up to 10,000, and of more a sample. `scale` is
     * the number of devices that each of them stands for.
     */
    sampled: (applicationId: string) => counted(applicationId, { terms: NO_TERMS }, { readsFirmware: true }),

    /**
     * Finds the next matching devices behind `after`, in the order of their deviceIds, and the place where the next page
     * begins; undefined after the last page. It examines `limit` devices, so a page can be empty without being the last.
     */
    async page(
      applicationId: string,
      selector: Selector,
      { after = '', limit }: { after?: string; limit: number },
    ): Promise<{ deviceIds: string[]; next: string | undefined }> {
      const terms = termsOf(selector);
      const asked = { applicationId, terms };
      const named =
        'devices' in selector
          ? selector.devices
              .filter((id) => id > after)
              .toSorted()
              .slice(0, limit)
          : undefined;
      const found = named
        ? await findCandidatesAmong(aside, asked, named)
        : await findCandidates(aside, asked, after, limit);
      const places = named ?? found.map(({ deviceId }) => deviceId);
      const deviceIds = (await matching(found, terms)).map(({ deviceId }) => deviceId);
      return { deviceIds, next: places.length < limit ? undefined : places.at(-1) };
    },

    /** Counts the matching devices by what they have; `versionOf` names a package. */
    async count(applicationId: string, selector: Selector, versionOf?: string): Promise<SelectionCount> {
      const { batches, scale } = await counted(applicationId, selector, { versionOf, readsFirmware: true });
      const sums = { matching: 0, connected: 0 };
      const versions = new Map<string | null, number>();
      const firmwareVersions = new Map<string | null, number>();
      for await (const batch of batches) {
        const found = await matching(batch, termsOf(selector));
        sums.matching += found.length;
        sums.connected += (await connected(found.map(({ deviceId }) => deviceId))).size;
        for (const { has, firmware } of found) {
          if (versionOf !== undefined) versions.set(has, (versions.get(has) ?? 0) + 1);
          firmwareVersions.set(firmware, (firmwareVersions.get(firmware) ?? 0) + 1);
        }
      }
      const scaled = (devices: number): number => Math.round(devices * scale);
      const all = (counts: Map<string | null, number>) =>
        new Map([...counts].map(([version, devices]) => [version, scaled(devices)]));
      return {
        matching: scaled(sums.matching),
        connected: scaled(sums.connected),
        isEstimate: scale !== 1,
        versions: all(versions),
        firmwareVersions: all(firmwareVersions),
      };
    },
  };
}
