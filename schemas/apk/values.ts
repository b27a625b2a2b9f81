/** A Res_value of Android's ResourceTypes.h: its type, and its data. */
export interface Value {
  type: number;
  data: number;
}

/** The types of a value that refers to a resource. */
export const REFERENCES: readonly number[] = [0x01, 0x07];
/** The type of a value whose data is an index into a pool of strings. */
export const STRING = 0x03;
/** The types of integers, decimal and hexadecimal. */
export const INTEGERS: readonly number[] = [0x10, 0x11];
