import { VERSION_OPERATIONS } from '@lapel/schemas/base/rollouts';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { findWayBack } from '../software/version-repository.ts';
import { isInstall, isSetting, lineOf } from '../transactions/operations.ts';
import type { Chosen, createCreation, Prepared, WantedRollout } from './creation.ts';
import { findGiven, givenAmong, replacedAmong } from './given-repository.ts';
import { noRevert } from './permits.ts';
import { isAtWork, type Rollout, revertsItself, type Who } from './rollout.ts';
import { findAsked, findRollout } from './rollout-repository.ts';
import type { Transitions } from './transitions.ts';
import { activatedAmong } from './unchanged-repository.ts';
import { findValues } from './value-repository.ts';

/** The devices that one page has. */
const PER_PAGE = 500;
/** The most characters of a label. */
const LONGEST_LABEL = 100;

/** How a rollout is reverted. Without a rule, the new rollout takes that of the reverted one, without its window. */
export type WantedRevert = Pick<WantedRollout, 'developerId' | 'terms'> &
  Partial<Pick<WantedRollout, 'label' | 'stages' | 'ratePerMinute' | 'window' | 'abort' | 'confirm'>> & {
    /** Whether devices that answered that the command had failed are brought back, too. */
    failed: boolean;
    /** The version that the devices get. */
    version?: string;
  };

/** The number of devices that have the release and cannot be brought back, by the code that says why. */
export interface Stuck {
  code: 'FORMER_UNKNOWN' | 'SUPERSEDED' | 'DEVICE_NOT_ACTIVATED';
  devices: number;
}

interface Parts {
  database: Database;
  creation: ReturnType<typeof createCreation>;
  transitions: Pick<Transitions, 'end' | 'write'>;
}

/** A revert as it would begin now. */
export interface RevertPreview extends Pick<Prepared, 'plan' | 'found' | 'connected'> {
  /** The version that the devices would get; undefined where each has its own settings back. */
  version: string | undefined;
  stuck: readonly Stuck[];
}

/** Makes the functions that bring the devices of a rollout back to what they had before it, and that only find out how. */
export function createReverting({ database, creation, transitions }: Parts) {
  /** Throws ROLLOUT_STATE unless a rollout can be reverted now, or if the service wants to and a person let it go on. */
  function requireRevertible(rollout: Rollout, { actor }: Who): void {
    const state = noRevert(rollout) ?? (actor === 'service' && !revertsItself(rollout) ? rollout.state : undefined);
    if (state !== undefined) throw new DomainError('ROLLOUT_STATE', { values: { state } });
  }

  /** The body of the operation; null where each device has its own. Throws REVERT_VERSION_MISSING, REQUEST_INVALID. */
  async function bodyFor(
    { rolloutId, operation, subject }: Rollout,
    version: string | undefined,
  ): Promise<SchemaTypes['rest/install-request'] | null> {
    const refuse = (msg: string, type: string): never => {
      throw DomainError.invalid({ loc: ['body', 'version'], msg, type });
    };
    if (!isInstall(operation)) {
      if (version !== undefined)
        refuse(`Input should be given for ${VERSION_OPERATIONS.join(', ')} only`, 'extra_forbidden');
      return null;
    }
    // A rollout that has completed has forgotten the body.
    const [name = '', ...rest] = (subject ?? '').split('@');
    const known = (await findAsked(database.read, rolloutId)) as SchemaTypes['rest/install-request'] | undefined;
    const release = known ?? { package: name, version: rest.join('@') };
    if (version === release.version) refuse('Input should be another version than that of the rollout', 'enum');
    const back =
      version ??
      (operation === 'installSoftware'
        ? await findWayBack(database.read, lineOf(operation), release.package, release.version)
        : undefined);
    if (back === undefined) throw new DomainError('REVERT_VERSION_MISSING', { values: { ...release } });
    return { package: release.package, version: back };
  }

  /** Finds the devices that have the release, and counts those that cannot be brought back. */
  async function devicesOf(
    rollout: Rollout,
    failed: boolean,
    makeRoom: Parameters<Chosen['find']>[0],
  ): Promise<{ found: string[]; stuck: Stuck[] }> {
    const found: string[] = [];
    const stuck = { FORMER_UNKNOWN: 0, SUPERSEDED: 0, DEVICE_NOT_ACTIVATED: 0 };
    for (let after: string | undefined = ''; after !== undefined; ) {
      const began = performance.now();
      const page: Awaited<ReturnType<typeof findGiven>> = await findGiven(
        database.read,
        rollout.rolloutId,
        after,
        PER_PAGE,
      );
      const ids = await givenAmong(database.read, rollout, page, failed);
      const activated = new Set(await activatedAmong(database.read, rollout.applicationId, ids));
      const later = await replacedAmong(database.read, rollout, ids, undefined);
      const values = isSetting(rollout.operation) && (await findValues(database.read, rollout.rolloutId, ids));
      for (const deviceId of ids) {
        found.push(deviceId);
        if (!activated.has(deviceId)) stuck.DEVICE_NOT_ACTIVATED += 1;
        else if (later.has(deviceId)) stuck.SUPERSEDED += 1;
        else if (values && !values.has(deviceId)) stuck.FORMER_UNKNOWN += 1;
      }
      after = page.length < PER_PAGE ? undefined : page.at(-1)?.deviceId;
      await makeRoom(began);
    }
    const counted = Object.entries(stuck).map(([code, devices]) => ({ code, devices }) as Stuck);
    return { found, stuck: counted.filter(({ devices }) => devices > 0) };
  }

  /** Stops a rollout in the unit of work that makes its revert, so that no device gets the release after it. */
  async function stop(unit: UnitOfWork, rolloutId: string, by: string, who: Who): Promise<void> {
    const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
    if (!rollout) throw new DomainError('ROLLOUT_NOT_FOUND');
    requireRevertible(rollout, who);
    const ended = isAtWork(rollout.state) ? await transitions.end(unit, rollout, 'cancel', who) : rollout;
    const plan = { ...ended.plan, revertedBy: by };
    await transitions.write(unit, { ...ended, plan }, 'reverted', who);
  }

  /** The rollout that a revert makes, its devices, and those of them that cannot be brought back once these are found. */
  async function revertOf(rollout: Rollout, wanted: WantedRevert, who: Who) {
    requireRevertible(rollout, who);
    const { rolloutId, applicationId, operation, subject, plan } = rollout;
    const { failed, version, ...rules } = wanted;
    const asked = await bodyFor(rollout, version);
    const name = `Revert of ${rollout.label ?? subject ?? operation}`;
    const stuck: Stuck[] = [];
    const made: WantedRollout = {
      ...(plan.ratePerMinute !== undefined && { ratePerMinute: plan.ratePerMinute }),
      ...(plan.confirm && { confirm: plan.confirm }),
      stages: [],
      ...rules,
      label: rules.label ?? name.slice(0, LONGEST_LABEL),
      applicationId,
      operation,
      asked,
      selector: {},
      reverts: rolloutId,
      ...(who.person && { startedBy: who.person }),
      ...(who.actor === 'service' && { byService: true as const }),
      ...(failed && { revertsFailed: true }),
    };
    const chosen: Chosen = {
      async find(makeRoom) {
        const devices = await devicesOf(rollout, failed, makeRoom);
        stuck.push(...devices.stuck);
        const hopeless = stuck.reduce((sum, { devices: count }) => sum + count, 0);
        if (devices.found.length <= hopeless) throw nothingToRevert(stuck);
        return devices.found;
      },
      ...(asked === null && { subject: null }),
    };
    return { made, chosen, stuck, version: asked?.version };
  }

  return {
    /**
     * Makes a rollout that gives devices back what they had before another one, which is cancelled in the same commit if it
     * is at work. The devices are those that have what it gave them, or may have it, since their commands were published and
     * have no answer. Those that cannot be brought back are in the new rollout, too, where they are refused with a code.
     * `also` runs in the commit that makes the rollout. Throws ROLLOUT_STATE, REVERT_VERSION_MISSING, NOTHING_TO_REVERT,
     * REQUEST_INVALID, and the errors of a creation.
     */
    async revert(
      rollout: Rollout,
      wanted: WantedRevert,
      who: Who,
      also?: (unit: UnitOfWork, made: Rollout, stuck: readonly Stuck[]) => Promise<void>,
    ): Promise<{ made: Rollout; stuck: readonly Stuck[] }> {
      const { made: asked, chosen, stuck } = await revertOf(rollout, wanted, who);
      const { made } = await creation.create(
        asked,
        async (unit, created) => {
          await stop(unit, rollout.rolloutId, created.rolloutId, who);
          await also?.(unit, created, stuck);
        },
        chosen,
      );
      return { made, stuck };
    },

    /** Finds out what `revert` would do. Throws what it throws. */
    async preview(rollout: Rollout, wanted: WantedRevert, who: Who): Promise<RevertPreview> {
      const { made, chosen, stuck, version } = await revertOf(rollout, wanted, who);
      const { plan, found, connected } = await creation.preview(made, chosen);
      return { plan, found, connected, version, stuck };
    },
  };
}

const REASONS: Record<Stuck['code'], string> = {
  FORMER_UNKNOWN: 'their former settings are not known',
  SUPERSEDED: 'they got a later command in its place',
  DEVICE_NOT_ACTIVATED: 'they are not activated any more',
};

function nothingToRevert(stuck: readonly Stuck[]): DomainError {
  const reasons = stuck.map(({ code, devices }) => `of ${devices}, ${REASONS[code]}`);
  return new DomainError('NOTHING_TO_REVERT', {
    values: { reasons: reasons.length === 0 ? 'none has what the rollout gave' : reasons.join('; ') },
  });
}
