import type { Json } from '../../base/json';

/** A call with what it returned: no program takes one without the other. */
export interface HandedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** Entries of the call and of its result; the same where there is no result. */
  readonly entry: string;
  readonly result: { readonly text: string; readonly isError: boolean; readonly entry: string };
  readonly at: number;
}

/** A message, and behind one of the assistant's the calls that it made. */
export interface HandedStep {
  readonly role: 'user' | 'assistant';
  /** Empty where an assistant only called. */
  readonly text: string;
  readonly calls: readonly HandedCall[];
  /** Says the text; of a step without one: makes the first call. */
  readonly entry: string;
  readonly at: number;
  readonly model: string | null;
}
