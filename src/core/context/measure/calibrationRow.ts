export interface CalibrationRow {
  readonly model: string;
  /** Kind of text the factor was learned on. */
  readonly kind: string;
  readonly factor: number;
  readonly n: number;
}
