export interface ModelInfo {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  /** Input limit in tokens. */
  readonly window: number;
  readonly maxOutput: number;
  /** `provider`: it was asked. `table`: the dated fallback. */
  readonly source: 'provider' | 'table';
}
