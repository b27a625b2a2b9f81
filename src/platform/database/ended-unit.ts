/**
 * The error of a statement that comes after the end of its unit of work, from a part of the unit that nobody waited for.
 * The statement would belong to no unit: it could be committed although its unit has failed.
 */
export const endedUnit = (): Error => new Error('the unit of work has ended: this statement comes too late');
