import type { Plan } from './plan.ts';

type Scenario = Plan['scenario'];
type Phase = Scenario['phases'][number];

const without = <Item>(items: readonly Item[], place: number): Item[] => items.filter((_, at) => at !== place);

/** The phase without one of the items of a list; a list without items is left out, because a scenario has none. */
function smallerPhases(phase: Phase): Phase[] {
  const lists = ['actions', 'service', 'receiver'] as const;
  return lists.flatMap((name) => {
    const list = phase[name];
    if (!Array.isArray(list)) return [];
    return list.map((_, place) => {
      const rest = without<unknown>(list, place);
      const { [name]: __, ...others } = phase;
      return (rest.length > 0 ? { ...others, [name]: rest } : others) as Phase;
    });
  });
}

/** Worlds that are smaller than this one by one step, the largest steps first. */
function smaller(plan: Plan): Plan[] {
  const { scenario, spells, deeds, aims } = plan;
  const having = (changed: Partial<Scenario>): Plan => ({ ...plan, scenario: { ...scenario, ...changed } });
  const { phases, groups = [], devices } = scenario;
  const fewer = [Math.ceil(devices / 2), devices - 1].filter((count) => count >= groups.length && count < devices);
  const { beside, hasEndpoint, ...alone } = plan;
  return [
    ...(beside !== undefined || hasEndpoint === true ? [alone] : []),
    ...(phases.length > 1
      ? phases.map((_, place) => having({ phases: without(phases, place) as Scenario['phases'] }))
      : []),
    ...spells.map((_, place) => ({ ...plan, spells: without(spells, place) })),
    ...aims.map((_, place) => ({ ...plan, aims: without(aims, place) })),
    ...aims.flatMap((aim, place) => {
      const { next, ...unchained } = aim;
      return next ? [{ ...plan, aims: aims.map((one, at) => (at === place ? unchained : one)) }] : [];
    }),
    ...deeds.map((_, place) => ({ ...plan, deeds: without(deeds, place) })),
    ...fewer.map((count) => having({ devices: count })),
    ...groups.flatMap((group, place) =>
      (group.faults?.length ?? 0) > 0
        ? [having({ groups: groups.map((one, at) => (at === place ? { ...one, faults: [] } : one)) })]
        : [],
    ),
    ...phases.flatMap((phase, place) =>
      smallerPhases(phase).map((one) =>
        having({ phases: phases.map((other, at) => (at === place ? one : other)) as Scenario['phases'] }),
      ),
    ),
  ];
}

/** The smallest world that is found by single steps and is still broken. It may be broken in another way than the given one. */
export async function shrink(plan: Plan, isBroken: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  for (const one of smaller(plan)) if (await isBroken(one)) return shrink(one, isBroken);
  return plan;
}
