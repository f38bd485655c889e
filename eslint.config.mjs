import tseslint from 'typescript-eslint';
import importX from 'eslint-plugin-import-x';
import regexp from 'eslint-plugin-regexp';

const roots = ['./src/extension.ts', './src/composition'];
/** One rule decides where a file lives: what may it import? (docs/architecture.md) */
const zones = [
  { target: './src/core', from: ['./src/protocol', './src/node', './src/vscode', ...roots, './webview-ui'] },
  { target: './src/protocol', from: ['./src/node', './src/vscode', ...roots, './webview-ui'] },
  { target: './src/node', from: ['./src/vscode', ...roots, './webview-ui'] },
  { target: './src/vscode', from: [...roots, './webview-ui'] },
  { target: './webview-ui', from: ['./src/core', './src/node', './src/vscode', ...roots] },
  { target: './src', from: ['./test'] },
  { target: './webview-ui', from: ['./test'] },
];

const onlyPackages = (allowed) => ({
  'no-restricted-imports': [
    'error',
    { patterns: [{ regex: `^(?!\\.)(?!(${allowed.join('|')})$)`, message: `Only ${allowed.join(', ')} may be imported here.` }] },
  ],
});

const pureGlobals = ['process', 'Buffer', 'require', 'setTimeout', 'setInterval', 'setImmediate', 'fetch', 'console', 'window', 'document'];

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'test/artifacts/**', '.vscode-test/**'] },
  ...tseslint.configs.recommended,
  {
    files: ['src/**/*.ts', 'webview-ui/**/*.ts', 'test/**/*.ts'],
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [importX.createNodeResolver({ extensions: ['.ts'] })] },
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json', './webview-ui/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      'import-x/no-restricted-paths': ['error', { zones, basePath: import.meta.dirname }],
      'import-x/no-default-export': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 500, skipBlankLines: false, skipComments: false }],
      // The formatter wraps code; what it cannot wrap is a text of one line, or a drawing.
      'max-len': [
        'error',
        { code: 140, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true, ignorePattern: '[─│]' },
      ],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    // Text comes from models, files and other programs: no expression over it takes more than linear time. Of what is said to move over the
    // text again and again only what is certain counts: the rest cannot fail to match.
    files: ['src/**/*.ts', 'webview-ui/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'certain', ignoreSticky: false }],
    },
  },
  {
    files: ['src/core/**/*.ts'],
    rules: { ...onlyPackages(['zod', 'zod/mini', 'diff']), 'no-restricted-globals': ['error', ...pureGlobals] },
  },
  {
    files: ['src/protocol/**/*.ts'],
    rules: { ...onlyPackages(['zod', 'zod/mini']), 'no-restricted-globals': ['error', ...pureGlobals.filter((g) => g !== 'setTimeout')] },
  },
  { files: ['src/node/**/*.ts'], rules: { 'no-restricted-imports': ['error', { paths: ['vscode'] }] } },
  {
    files: ['src/node/**/*.ts', 'src/vscode/**/*.ts', 'src/composition/*.ts', 'src/extension.ts'],
    ignores: ['src/node/models/sameOriginFetch.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'It follows redirects to any server, with the key and the conversation. Use sameOriginFetch.' },
      ],
    },
  },
  { files: ['src/node/cli.ts', 'src/node/cli/**/*.ts', 'test/**/*.ts'], rules: { 'no-console': 'off' } },
  { files: ['test/**/*.ts'], rules: { '@typescript-eslint/no-unused-expressions': 'off' } },
);
