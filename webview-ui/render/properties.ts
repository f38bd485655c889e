import { nothing } from 'lit';
import { Directive, directive, PartType, type ElementPart, type PartInfo } from 'lit/directive.js';

/** Custom properties of an element, set without a style attribute (which the content security policy forbids). */
class PropertiesDirective extends Directive {
  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new Error('`properties` stands in an element, not in an attribute or child');
  }

  override update({ element }: ElementPart, [values]: [Readonly<Record<`--${string}`, string>>]): typeof nothing {
    for (const [name, value] of Object.entries(values)) (element as HTMLElement).style.setProperty(name, value);
    return nothing;
  }

  render(_values: Readonly<Record<`--${string}`, string>>): typeof nothing {
    return nothing;
  }
}

export const properties = directive(PropertiesDirective);
