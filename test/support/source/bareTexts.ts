import ts from 'typescript';
import { isTranslation, shippedNodes } from './userTexts';

export interface BareText {
  readonly text: string;
  readonly place: string;
}

/** Texts in the source that a user may come to read, and that no language but English has: not given to `t` or `english`. */
export function bareTexts(): BareText[] {
  const found: BareText[] = [];
  for (const { node, file, place } of shippedNodes()) {
    if (!isText(node) || belongsToTranslation(node) || isForNobody(node)) continue;
    const inView = /^(src\/vscode|src\/protocol|src\/extension|webview-ui)/.test(file);
    if (!inView && (/^src\/node\/cli/.test(file) || !reachesUser(node))) continue;
    const text = readText(node);
    if (inView ? readsLikeText(text) || (isHtmlChild(node) && /\p{L}{2,}/u.test(text)) : /\p{L}{2,} \p{L}{2,}/u.test(text))
      found.push({ text, place: place() });
  }
  return found;
}

type Text = ts.StringLiteralLike | ts.TemplateExpression;

function isText(node: ts.Node): node is Text {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** What stands between the expressions, each of which is `{}`; of HTML what is seen and what is spoken. */
function readText(node: Text): string {
  const whole = ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('{}')
    : node.text;
  if (!ts.isTaggedTemplateExpression(node.parent) && !whole.startsWith('<')) return whole;
  const spoken = [...whole.matchAll(/\s(?:title|aria-label|aria-description|placeholder|alt)="([^"]*)"/g)].map(([, value]) => value);
  return [whole.replace(/<(?!!--)[^>]*>/g, ' | '), ...spoken].join(' | ').replace(/\s+/g, ' ').trim();
}

/** Two words beside each other, or one that begins like a sentence. */
function readsLikeText(text: string): boolean {
  return /\p{L}{2,}[,.:;!?]? +\p{L}{2,}/u.test(text) || /(^|[|#] )\p{Lu}\p{Ll}+[….!?:]?\s*($|\|)/u.test(text.trim());
}

/** What an expression between the tags of HTML comes to: seen as it is, be it a single word. */
function isHtmlChild(node: Text): boolean {
  let at: ts.Node = node;
  while (
    ts.isParenthesizedExpression(at.parent) ||
    (ts.isConditionalExpression(at.parent) && at.parent.condition !== at) ||
    isFallback(at.parent)
  )
    at = at.parent;
  if (at.parent === undefined || !ts.isTemplateSpan(at.parent) || ts.isTaggedTemplateExpression(node.parent)) return false;
  const { parent: template } = at.parent;
  if (!ts.isTaggedTemplateExpression(template.parent) || template.parent.tag.getText() !== 'html') return false;
  const before = [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]
    .slice(0, template.templateSpans.indexOf(at.parent) + 1)
    .join('');
  return before.lastIndexOf('>') >= before.lastIndexOf('<');
}

function isFallback(node: ts.Node): boolean {
  return (
    ts.isBinaryExpression(node) &&
    [ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.AmpersandAmpersandToken].includes(
      node.operatorToken.kind,
    )
  );
}

function belongsToTranslation(node: ts.Node): boolean {
  return some(node, (above) => isTranslation(above));
}

/** Names of things and keys, what is logged, what a selector looks for, what only a model reads. */
function isForNobody(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent) || ts.isLiteralTypeNode(parent) || ts.isCaseClause(parent))
    return true;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return true;
  if (
    ts.isBinaryExpression(parent) &&
    [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken].includes(parent.operatorToken.kind)
  )
    return true;
  return some(node, (above) => {
    if (ts.isTaggedTemplateExpression(above)) return above.tag.getText() === 'css';
    if (ts.isNewExpression(above)) return above.expression.getText() === 'ToolFault';
    return (
      ts.isCallExpression(above) &&
      /(^|\.)(log|includes|startsWith|querySelector(All)?|closest|matches|executeCommand)$|\blog\.\w+$/.test(above.expression.getText())
    );
  });
}

/** In the core and under it: the words of an error of the store or of a model, and what is handed on as such. */
function reachesUser(node: ts.Node): boolean {
  return some(node, (above) => {
    if (ts.isNewExpression(above)) return /^(StoreError)$/.test(above.expression.getText());
    return ts.isPropertyAssignment(above) && /^(detail|message|note|heading)$/.test(above.name.getText());
  });
}

/** Of the expression a node is part of. */
function some(node: ts.Node, test: (above: ts.Node) => boolean): boolean {
  for (let above = node; above.parent && !ts.isStatement(above) && !ts.isFunctionLike(above); above = above.parent)
    if (test(above)) return true;
  return false;
}
