/** `levels`: any, `off` among them; `always`: any but `off`; `switch`: on or off; `none`: it does as it does. */
export type ThinkingControl = 'levels' | 'always' | 'switch' | 'none';

export interface ModelInfo {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  /** Input limit in tokens. */
  readonly window: number;
  readonly maxOutput: number;
  /** `provider`: it was asked. `table`: the dated fallback. */
  readonly source: 'provider' | 'table';
  /** Omitted: nobody knows; a level is sent, and left out where it is refused. */
  readonly thinking?: ThinkingControl;
  /** The provider says that it can hold the model's answers to a schema. */
  readonly structured?: true;
}
