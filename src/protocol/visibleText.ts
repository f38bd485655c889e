export { visibleText } from '../core/base/visibleText';
