import { estimateTokens } from '../../context/measure/estimateTokens';
import { isOneLine, type Frames } from '../../frames/frames';
import { callArguments } from './callText';
import { timeText } from '../dateText';
import type { PlacedHit } from './elsewhere';
import type { HitCost } from './evidenceBudget';

/**
 * Hits as the model reads them: passages of several lines in frames of their own; all that are one line in one frame, those of a day of a
 * session together and in the order in which they were said. That costs half, and is read as what it was. What has the best hit comes
 * first.
 */
export class ShownHits {
  constructor(
    private readonly frames: Frames,
    /** There are several sessions: each hit names its own. */
    private readonly named: boolean,
    /** The question asks for a time. */
    private readonly datesFirst: boolean,
  ) {}

  costOf(hit: PlacedHit): HitCost {
    const shares = sectionOf(hit);
    if (shares === null) return { own: estimateTokens(this.alone(hit)), shares, frame: 0 };
    return { own: estimateTokens(`#${about(hit)}: ${textOf(hit)}\n`), shares, frame: estimateTokens(`${this.heading(hit)}\n`) };
  }

  /** Tokens of the frame that all hits of one line share. */
  get frameCost(): number {
    return estimateTokens(this.frames.entries([]));
  }

  parts(hits: readonly PlacedHit[]): string[] {
    const short = hits.filter((hit) => sectionOf(hit) !== null);
    const first = short[0];
    return hits.flatMap((hit) => {
      if (short.length === 1 || sectionOf(hit) === null) return [this.alone(hit)];
      return hit === first ? [this.together(short)] : [];
    });
  }

  private together(hits: readonly PlacedHit[]): string {
    const sections = new Map<string | null, PlacedHit[]>();
    for (const hit of hits) sections.set(sectionOf(hit), [...(sections.get(sectionOf(hit)) ?? []), hit]);
    return this.frames.entries(
      [...sections.values()].flatMap((section) => {
        const lines = [...section]
          .sort((x, y) => x.seq - y.seq || x.start - y.start)
          .map((hit) => ({ about: about(hit), text: textOf(hit) }));
        return section[0] ? [{ heading: this.heading(section[0]), lines }] : [];
      }),
    );
  }

  private heading(hit: PlacedHit): string {
    const { workspace, program } = hit;
    const day = timeText(hit.at).slice(0, dayLength);
    const home = [workspace && `workspace ${workspace}`, this.named && `session ${sessionName(hit)}`, program];
    return [day, ...home.filter((part) => typeof part === 'string' && part !== '')].join(', ');
  }

  private alone(hit: PlacedHit): string {
    const { dates, beside, found } = notesOn(hit);
    const { workspace, program } = hit;
    const origin = { workspace, session: this.named ? sessionName(hit) : undefined, program, beside, found };
    const [about, first] = this.datesFirst ? [origin, { time: timeText(hit.at), dates }] : [{ ...origin, dates }, {}];
    const { seq, speaker, at } = hit;
    const { characters } = notesOn(hit);
    return this.frames.entry({ ...first, id: `#${seq}`, role: speaker, time: timeText(at), ...about, characters }, textOf(hit));
  }
}

/** What stands before a text of one line. */
function about(hit: PlacedHit): string {
  const { beside, found, dates, characters } = notesOn(hit);
  const notes = [dates, beside && `beside ${beside}`, found && `found ${found}`, characters && `characters ${characters}`];
  return [`${hit.seq} ${hit.speaker} ${timeText(hit.at).slice(dayLength + 1)}`, ...notes.flatMap((note) => note ?? [])].join(', ');
}

/** Characters of a day in `timeText`. */
const dayLength = 10;

/** Null for a text of several lines, which would not be verbatim between others. */
function sectionOf(hit: PlacedHit): string | null {
  return isOneLine(textOf(hit)) ? `${hit.workspace ?? ''} ${hit.session} ${timeText(hit.at).slice(0, dayLength)}` : null;
}

/** Verbatim, but for the input of a call: its arguments as they were given, without their JSON. */
function textOf(hit: PlacedHit): string {
  return (callArguments(hit) ?? hit.text).trim();
}

function sessionName({ sessionId, sessionTitle }: PlacedHit): string {
  return `${sessionId} ${sessionTitle}`.trim();
}

function notesOn({
  seq,
  beside,
  meant,
  dates,
  text,
  start,
  length,
}: PlacedHit): Readonly<Record<'beside' | 'found' | 'dates' | 'characters', string | undefined>> {
  return {
    beside: beside === null || beside === seq ? undefined : `#${beside}`,
    found: meant ? 'by meaning' : undefined,
    dates: dates.length === 0 ? undefined : dates.map(({ said, day }) => `${said}: ${day}`).join('; '),
    characters: text.length === length ? undefined : `${start}-${start + text.length} of ${length}`,
  };
}
