/** An embedding model and how it is reached: what the user's setting says. */
export interface EmbeddingChoice {
  readonly provider: 'ollama' | 'openai-compatible';
  readonly model: string;
  /** Undefined: where that provider is reached otherwise. */
  readonly url?: string;
}

/** A query's vector, quantised, and the model that made it (`embeddingSpace`). */
export interface QueryVector {
  readonly space: string;
  readonly vector: readonly number[];
}

/** A passage that has no vector yet. `hash` is that of its text. */
export interface UnembeddedPassage {
  readonly hash: string;
  readonly text: string;
}

export interface Unembedded {
  readonly passages: readonly UnembeddedPassage[];
  /** There are, or there may be, others. */
  readonly more: boolean;
}

/** An empty `vector` says that the model could not read the passage; it is not asked about it again. */
export interface PassageVector {
  readonly hash: string;
  readonly vector: readonly number[];
}

export interface VectorStatus {
  /** The model whose vectors are stored; null where there are none. */
  readonly space: string | null;
  /** Passages with a vector, and all that could have one. */
  readonly embedded: number;
  readonly passages: number;
  readonly bytes: number;
  /** There is no room for older ones. */
  readonly full: boolean;
}

/** How far the background has come, as a user is told. */
export interface EmbeddingProgress {
  readonly model: string;
  readonly embedded: number;
  readonly passages: number;
  /** `waiting`: the endpoint is away and is asked again later; `error` says why. */
  readonly state: 'working' | 'done' | 'waiting';
  readonly error: string | null;
  readonly full: boolean;
}

/** How a model wants to be told what a text is for, by what its name contains; the model's own documentation says so. */
const tasks: readonly { readonly name: RegExp; readonly query: string; readonly passage: string }[] = [
  { name: /nomic-embed-text/i, query: 'search_query: ', passage: 'search_document: ' },
  { name: /embeddinggemma/i, query: 'task: search result | query: ', passage: 'title: none | text: ' },
  { name: /\be5\b/i, query: 'query: ', passage: 'passage: ' },
  {
    name: /mxbai-embed|snowflake-arctic-embed(?!2)|bge-(?:small|base|large)-en/i,
    query: 'Represent this sentence for searching relevant passages: ',
    passage: '',
  },
];

export type TextTask = 'query' | 'passage';

/** A text as the model is to be given it. */
export function forTask(text: string, task: TextTask, model: string): string {
  return `${tasks.find(({ name }) => name.test(model))?.[task] ?? ''}${text}`;
}

/**
 * Names the space that a model's vectors lie in: those of two spaces say nothing about each other. The first part changes when texts are
 * prepared in another way.
 */
export function embeddingSpace({ provider, model }: EmbeddingChoice): string {
  return `1 ${provider}/${model}`;
}

/** `embeddingSpace` without what only the program asks for. */
export function modelOfSpace(space: string): string {
  return space.slice(space.indexOf(' ') + 1);
}
