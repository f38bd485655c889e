import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { projectRoot } from '../paths';

export interface SourceNode {
  readonly node: ts.Node;
  /** `src/vscode/context/statusBar.ts` */
  readonly file: string;
  /** `src/vscode/context/statusBar.ts:35` */
  readonly place: () => string;
}

/** Every node of everything that ships. */
export function* shippedNodes(): Generator<SourceNode> {
  for (const folder of ['src', 'webview-ui']) {
    for (const found of readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })) {
      if (!found.isFile() || !found.name.endsWith('.ts') || found.name.endsWith('.d.ts')) continue;
      const path = join(found.parentPath, found.name);
      const file = relative(projectRoot, path).replaceAll('\\', '/');
      const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true);
      for (const node of descendants(source)) {
        yield { node, file, place: () => `${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}` };
      }
    }
  }
}

/** Calls of `t`, or of both `t` and `english`. */
export function isTranslation(node: ts.Node, names: readonly string[] = ['t', 'english']): node is ts.CallExpression {
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && names.includes(node.expression.text);
}

/** The texts an expression may be, `null` where that cannot be told from the source. */
export function literalsOf(expression: ts.Expression | undefined): readonly string[] | null {
  if (!expression) return null;
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isParenthesizedExpression(expression)) return literalsOf(expression.expression);
  if (!ts.isConditionalExpression(expression)) return null;
  const [whenTrue, whenFalse] = [literalsOf(expression.whenTrue), literalsOf(expression.whenFalse)];
  return whenTrue && whenFalse && [...whenTrue, ...whenFalse];
}

/** Not only when something is shown, but while the module loads: before the language is known. */
export function runsWhileLoading(node: ts.Node): boolean {
  for (let above: ts.Node = node; above.parent; above = above.parent) if (ts.isFunctionLike(above)) return false;
  return true;
}

function* descendants(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* descendants(child);
}
