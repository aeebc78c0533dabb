/* flame_svg.c - draws the call tree of prof flame as SVG. Where scripts run, the picture can be zoomed and searched. */
#include "flame.h"
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0 /* without script; with it, the picture is as wide as the window */
#define ROW 18
#define TOP 62       /* above the rows: title, legend, search field */
#define CHARACTER 6.7 /* the width of a character of 11 px monospace */
#define LEGEND 8

size_t flame_character(const char *text, int *width)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t length = tool_character(text), i;
    uint32_t code = length < 2 ? *c : *c & (0x7Fu >> length);
    for (i = 1; i < length; ++i) code = code << 6 | (c[i] & 0x3Fu);
    if (code == 0xFFFE || code == 0xFFFF) return 0; /* XML does not allow them */
    *width = (code >= 0x1100 && code < 0x1160) || (code >= 0x2E80 && code < 0xD7B0) ||
                     (code >= 0xF900 && code < 0xFB00) || (code >= 0xFE30 && code < 0xFE70) ||
                     (code >= 0xFF00 && code < 0xFF61) || code >= 0x1F000
                 ? 2
                 : 1;
    return length;
}

void flame_put_xml(tool_out *out, const char *text, size_t max)
{
    int width;
    for (; *text && max; --max) {
        size_t length = flame_character(text, &width);
        if (!length)
            flame_put(out, "%s", (unsigned char)*text < 0x80 ? " " : "\xEF\xBF\xBD");
        else if (strchr("&<>\"'", *text))
            flame_put(out, "&#%d;", *text);
        else
            tool_out_bytes(out, text, length);
        text += length ? length : 1;
    }
}

/* The script of the picture: fits it to the width of the window, zooms, searches. It reads names from the picture, and
   sets them only as text. */
static const char *const script[] = {
    "'use strict';\n"
    "const svg=document.documentElement,NS=svg.namespaceURI,rows=[...svg.querySelectorAll('.f')];\n"
    "const W0=1200,CW=6.7,head=svg.querySelector('.title'),title=head.textContent;"
    "let W=W0,zoom=[0,1],found=null,current=rows[0];\n"
    "const list=rows.map(g=>{const r=g.querySelector('rect'),t=g.querySelector('text'),a=+r.getAttribute('x')/W0;\n"
    " const d=g.querySelector('title').textContent;\n"
    " return{g,r,t,x:a,w:+r.getAttribute('width')/W0,y:+r.getAttribute('y'),name:d.split('\\n')[0],d}});\n"
    "const of=new Map(list.map(e=>[e.g,e])),E=1e-9;\n"
    "function fit(name,w,cw){let n=Math.floor((w-6)/cw);if(n<3)return'';let out='',k=0;\n"
    " const wide=c=>/[\\u1100-\\u115f\\u2e80-\\ud7af\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60]|[\\u{1f000}"
    "-\\u{10ffff}]/u.test(c)?2:1;\n"
    " const all=[...name],len=all.reduce((s,c)=>s+wide(c),0);if(len<=n)return name;\n"
    " for(const c of all){if((k+=wide(c))>n-2)break;out+=c}return out+'..'}\n",
    "function layout(){const[z0,z1]=zoom,s=W/(z1-z0);\n"
    " for(const e of list){const a=Math.max(e.x,z0),b=Math.min(e.x+e.w,z1),w=(b-a)*s;\n"
    "  const hide=w<.15;e.g.style.display=hide?'none':'';if(hide)continue;\n"
    "  e.r.setAttribute('x',(a-z0)*s);e.r.setAttribute('width',Math.max(w-.3,.3));\n"
    "  const text=fit(e.name,w,CW);if(text&&!e.t){e.t=document.createElementNS(NS,'text');"
    "e.t.setAttribute('y',e.y+13);e.g.append(e.t)}\n"
    "  if(e.t){e.t.textContent=text;e.t.setAttribute('x',(a-z0)*s+3)}\n"
    "  e.g.classList.toggle('up',(e.x<z0-E||e.x+e.w>z1+E))}\n"
    " reset.style.display=z1-z0<1-E?'':'none'}\n"
    "function size(){W=Math.max(500,innerWidth-2);const h=+svg.getAttribute('viewBox').split(' ')[3];\n"
    " svg.setAttribute('width',W);svg.setAttribute('viewBox','0 0 '+W+' '+h);box.setAttribute('x',W-310);\n"
    " for(const e of svg.querySelectorAll('.back'))e.setAttribute('width',W);layout();\n"
    " head.textContent=fit(title,W-310,8.5);\n"
    " for(const t of svg.querySelectorAll('svg>text[y=\"40\"]')){\n"
    "  const over=+t.getAttribute('x')+t.textContent.length*CW>W-190;"
    "t.style.display=t.previousElementSibling.style.display=over?'none':''}}\n"
    "function to(e){zoom=[e.x,Math.min(1,e.x+e.w)];layout();focusOn(e)}\n"
    "function focusOn(e){current.setAttribute('tabindex',-1);current=e.g;current.setAttribute('tabindex',0);"
    "current.focus()}\n",
    "const box=document.createElementNS(NS,'foreignObject');box.setAttribute('y',4);box.setAttribute('width',304);\n"
    "box.setAttribute('height',50);const X='http://www.w3.org/1999/xhtml',div=document.createElementNS(X,'div');\n"
    "const input=document.createElementNS(X,'input'),said=document.createElementNS(X,'div'),"
    "reset=document.createElementNS(X,'button');\n"
    "input.type='search';input.placeholder='search names';input.setAttribute('aria-label','search names');\n"
    "said.setAttribute('aria-live','polite');reset.textContent='zoom out';div.append(reset,' ',input,said);"
    "box.append(div);svg.append(box);\n"
    "reset.onclick=()=>{zoom=[0,1];layout()};\n"
    "input.oninput=()=>{const q=input.value.toLowerCase();let calls=0,sum=0,end=-1;\n"
    " const hits=list.filter(e=>{const hit=q&&e.name.toLowerCase().includes(q);e.g.classList.toggle('hit',!!hit);\n"
    "  e.g.classList.toggle('miss',!!q&&!hit);return hit});\n"
    " for(const e of hits.sort((a,b)=>a.x-b.x||b.w-a.w))if(e.x+e.w>end+E){sum+=e.x+e.w-Math.max(e.x,end);end=e.x+e.w}\n"
    " said.textContent=q?hits.length+' found, '+(sum*100).toFixed(1)+' % of the time':''};\n",
    "svg.addEventListener('click',ev=>{const g=ev.target.closest('.f');if(g)to(of.get(g))});\n"
    "const near=(e,dy,dx)=>{let best=null;for(const o of list){if(o.g.style.display=='none')continue;\n"
    " if(dy?o.y!=e.y+dy||o.x+o.w<=e.x+E||o.x>=e.x+e.w-E:o.y!=e.y||(dx>0?o.x<=e.x:o.x>=e.x))continue;\n"
    " if(!best||(dx>0||dy?o.x<best.x:o.x>best.x))best=o}return best};\n"
    "svg.addEventListener('keydown',ev=>{if(ev.target==input){if(ev.key=='Escape'){input.value='';input.oninput()}"
    "return}\n"
    " if(ev.ctrlKey||ev.metaKey||ev.altKey)return;const g=ev.target.closest('.f'),e=g&&of.get(g);let go=null;\n"
    " if(ev.key=='Escape'){zoom=[0,1];layout()}else if(ev.key=='/'){input.focus()}else if(!e)return;\n"
    " else if(ev.key=='Enter'||ev.key==' ')to(e);\n"
    " else if(ev.key=='ArrowDown')go=near(e,18,0);else if(ev.key=='ArrowUp')go=near(e,-18,0);\n"
    " else if(ev.key=='ArrowRight')go=near(e,0,1);else if(ev.key=='ArrowLeft')go=near(e,0,-1);else return;\n"
    " ev.preventDefault();if(go)focusOn(go)});\n"
    "rows.forEach(g=>{g.setAttribute('role','button');g.setAttribute('tabindex',-1)});"
    "if(current)current.setAttribute('tabindex',0);\n"
    "addEventListener('resize',size);size();\n"};

static const char style[] =
    "text{font:11px monospace;fill:#111;white-space:pre}.f{cursor:pointer;outline:none}.f rect{stroke:#fff;"
    "stroke-width:.4}"
    ".f text{pointer-events:none}.f:hover rect,.f:focus rect{stroke:#000;stroke-width:1.4}.up rect{opacity:.55}"
    ".hit rect{fill:#a0c !important}.hit text{fill:#fff}.miss rect{opacity:.35}.note{fill:#a00}.title{font-size:14px;"
    "font-weight:bold}"
    "input,button,div{font:12px sans-serif}div{text-align:right}input{width:190px}";

typedef struct drawing {
    const flame *tree;
    const flame_look *look;
    tool_out *out;
    const char **categories; /* sorted by time; the legend has the first ones */
    uint64_t *category_ns;
    size_t category_count;
    unsigned deepest; /* the number of the last row */
    uint64_t hidden;  /* how many scopes are drawn as "others" */
    int height;
} drawing;

/* Writes a colour. Categories have hues, which differ most between those with the most time. Names have lightnesses.
   category NULL: a thread or process. name NULL: the legend. */
static void put_color(const drawing *to, const char *category, const char *name)
{
    uint32_t hash = name ? tool_hash(2166136261u, name) : 0, shade = name ? (hash ^ hash >> 15) % 14 : 7;
    size_t rank = 0;
    while (category && rank < to->category_count && !tool_same(to->categories[rank], category)) ++rank;
    flame_put(to->out, "hsl(%u,%d%%,%u%%)", (unsigned)((30 + rank * 137) % 360), category ? 68 : 6,
              (unsigned)(category ? 67 + shade : 80));
}

static double share(const drawing *to, uint64_t ns)
{
    return to->tree->nodes[0].total_ns ? (double)ns / (double)to->tree->nodes[0].total_ns : 0;
}

static int narrow(const drawing *to, const flame_node *node)
{
    return node->category && share(to, node->total_ns) < to->look->least;
}

/* Counts the rows, and the scopes that are too narrow to be drawn alone. */
static void measure(drawing *to)
{
    const flame *tree = to->tree;
    size_t i;
    for (i = 0; i < tree->count; ++i) {
        const flame_node *node = &tree->nodes[i];
        int hidden = narrow(to, node);
        to->hidden += (uint64_t)hidden;
        if (hidden && (node->parent == FLAME_NONE || narrow(to, &tree->nodes[node->parent]))) continue;
        if (node->total_ns && node->depth > to->deepest) to->deepest = node->depth;
    }
    to->height = TOP + ROW * ((int)to->deepest + 1) + 16 * (int)tree->note_count + 56;
}

static void add_category(drawing *to, const char *category, uint64_t ns)
{
    size_t i;
    for (i = 0; i < to->category_count && !tool_same(to->categories[i], category);) ++i;
    if (i == 256) return; /* the legend has only the first ones */
    if (i == to->category_count) to->categories[to->category_count++] = category;
    to->category_ns[i] += ns;
}

/* Lists the categories, sorted by self time. */
static void list_categories(drawing *to)
{
    size_t i, j;
    for (i = 0; i < to->tree->count; ++i)
        if (to->tree->nodes[i].category) add_category(to, to->tree->nodes[i].category, to->tree->nodes[i].self_ns);
    for (i = 1; i < to->category_count; ++i) {
        const char *name = to->categories[i];
        uint64_t ns = to->category_ns[i];
        for (j = i; j && (to->category_ns[j - 1] < ns ||
                          (to->category_ns[j - 1] == ns && strcmp(to->categories[j - 1], name) > 0)); --j) {
            to->categories[j] = to->categories[j - 1];
            to->category_ns[j] = to->category_ns[j - 1];
        }
        to->categories[j] = name;
        to->category_ns[j] = ns;
    }
}

static void put_legend(const drawing *to)
{
    size_t i;
    double x = 4;
    for (i = 0; i < to->category_count && i < LEGEND; ++i) {
        const char *name = *to->categories[i] ? to->categories[i] : "no category";
        size_t length = strlen(name) < 20 ? strlen(name) : 20;
        if (x + 40 + (double)length * CHARACTER > WIDTH - 320) return;
        flame_put(to->out, "<rect x=\"%.1f\" y=\"31\" width=\"10\" height=\"10\" fill=\"", x);
        put_color(to, to->categories[i], NULL);
        flame_put(to->out, "\"/><text x=\"%.1f\" y=\"40\">", x + 14);
        flame_put_xml(to->out, name, 20);
        flame_put(to->out, "</text>\n");
        x += 28 + (double)length * CHARACTER;
    }
}

/* Writes a name into a box, as much of it as `width` allows. */
static void put_label(drawing *to, const char *name, double x, double y, double width)
{
    int room = (int)((width - 6) / CHARACTER), used = 0, each;
    size_t characters = 0, fits = 0;
    const char *c = name;
    if (room < 3) return;
    while (*c) {
        size_t length = flame_character(c, &each);
        if (!length) each = 1;
        if (used + each > room) break;
        used += each;
        characters++;
        if (used <= room - 2) fits = characters;
        c += length ? length : 1;
    }
    flame_put(to->out, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 13);
    flame_put_xml(to->out, name, *c ? fits : characters);
    flame_put(to->out, "%s</text>", *c ? ".." : "");
}

static double row_y(const drawing *to, unsigned depth)
{
    return TOP + ROW * (double)(to->look->inverted ? to->deepest - depth : depth);
}

static const char *calls_word(const drawing *to) { return to->tree->samples ? "samples" : "calls"; }

static void put_row(drawing *to, const flame_node *node, double at)
{
    char total[48], self[48], calls[48], cut[48];
    double x = at * WIDTH, y = row_y(to, node->depth), width = share(to, node->total_ns) * WIDTH;
    flame_put(to->out, "<g class=\"f\"><title>");
    flame_put_xml(to->out, node->name, 400);
    flame_put(to->out, "\ntotal %s, %.2f %%", tool_ns(total, (double)node->total_ns), share(to, node->total_ns) * 100);
    if (node->category) {
        flame_put(to->out, "\nself %s, %.2f %%\n%s %s", tool_ns(self, (double)node->self_ns),
                  share(to, node->self_ns) * 100, calls_word(to), tool_count(calls, node->calls));
        if (node->cut) flame_put(to->out, ", of which %s cut off", tool_count(cut, node->cut));
        if (*node->category) flame_put(to->out, "\ncategory "), flame_put_xml(to->out, node->category, 100);
    }
    flame_put(to->out, "</title><rect x=\"%.4f\" y=\"%.0f\" width=\"%.4f\" height=\"%d\" fill=\"", x, y, width,
              ROW - 1);
    put_color(to, node->category, node->name);
    flame_put(to->out, "\"/>");
    put_label(to, node->name, x, y, width);
    flame_put(to->out, "</g>\n");
}

static void put_others(drawing *to, unsigned depth, uint64_t scopes, uint64_t calls, uint64_t ns, double at)
{
    char total[48], count[48], many[48], name[100];
    double x = at * WIDTH, y = row_y(to, depth), width = share(to, ns) * WIDTH;
    if (!ns) return;
    snprintf(name, sizeof name, "others (%s)", tool_count(many, scopes));
    flame_put(to->out,
              "<g class=\"f\"><title>%s\ntotal %s, %.2f %%\n%s %s\nscopes that are narrower than %g %% of the whole",
              name, tool_ns(total, (double)ns), share(to, ns) * 100, calls_word(to), tool_count(count, calls),
              to->look->least * 100);
    flame_put(to->out, "</title><rect x=\"%.4f\" y=\"%.0f\" width=\"%.4f\" height=\"%d\" fill=\"#ccc\"/>", x, y, width,
              ROW - 1);
    put_label(to, name, x, y, width);
    flame_put(to->out, "</g>\n");
}

/* Draws a node and all below it. at: where it begins, as a share of the width. Recursive, to FLAME_DEPTH levels. */
static void put_tree(drawing *to, size_t index, double at)
{
    const flame_node *node = &to->tree->nodes[index];
    uint64_t others = 0, calls = 0, ns = 0;
    size_t i;
    put_row(to, node, at);
    for (i = node->first; i != FLAME_NONE; i = to->tree->nodes[i].next) {
        const flame_node *child = &to->tree->nodes[i];
        if (narrow(to, child)) {
            others++;
            calls += child->calls;
            ns += child->total_ns;
        } else if (child->total_ns) {
            put_tree(to, i, at);
            at += share(to, child->total_ns);
        }
    }
    put_others(to, node->depth + 1, others, calls, ns, at);
}

static void put_head(drawing *to)
{
    const flame *tree = to->tree;
    char total[48], calls[48];
    flame_put(to->out,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
              "width=\"%.0f\" height=\"%d\" viewBox=\"0 0 %.0f %d\" lang=\"en\">\n<title>",
              WIDTH, to->height, WIDTH, to->height);
    flame_put_xml(to->out, to->look->title, 200);
    flame_put(to->out, ": flame graph</title>\n<style>");
    tool_out_bytes(to->out, style, sizeof style - 1);
    flame_put(to->out,
              "</style>\n<rect class=\"back\" width=\"%.0f\" height=\"%d\" fill=\"#fff\"/>\n"
              "<text class=\"title\" x=\"4\" y=\"18\">",
              WIDTH, to->height);
    flame_put_xml(to->out, to->look->title, 50);
    flame_put(to->out, ": %s in %s %s</text>\n", tool_ns(total, (double)tree->nodes[0].total_ns),
              tool_count(calls, tree->calls), calls_word(to));
}

static void put_note(drawing *to, int *y, const char *kind, const char *text)
{
    flame_put(to->out, "<text%s x=\"4\" y=\"%d\">", kind, *y += 16);
    flame_put_xml(to->out, text, 175);
    flame_put(to->out, "</text>\n");
}

static void put_notes(drawing *to)
{
    const flame *tree = to->tree;
    char note[200], count[48];
    int y = to->height - 50 - 16 * (int)tree->note_count;
    size_t i;
    for (i = 0; i < tree->note_count; ++i) put_note(to, &y, " class=\"note\"", tree->notes[i]);
    *note = 0;
    if (tree->cut)
        snprintf(note, sizeof note, "calls that were cut off, whose time counts as far as it is known: %s",
                 tool_count(count, tree->cut));
    if (tree->too_deep)
        snprintf(note + strlen(note), sizeof note - strlen(note),
                 "%scalls deeper than %d levels, which count as self time: %s", *note ? "; " : "", FLAME_DEPTH,
                 tool_count(count, tree->too_deep));
    if (*note) put_note(to, &y, "", note);
    snprintf(note, sizeof note, "scopes drawn as others, because they are narrower than %g %% of the whole: %s",
             to->look->least * 100, tool_count(count, to->hidden));
    if (to->hidden) put_note(to, &y, "", note);
}

int flame_write_svg(const flame *tree, const flame_look *look, tool_out *out)
{
    drawing to;
    size_t i;
    memset(&to, 0, sizeof to);
    to.tree = tree, to.look = look, to.out = out;
    to.categories = (const char **)calloc(256, sizeof *to.categories);
    to.category_ns = (uint64_t *)calloc(256, sizeof *to.category_ns);
    if (to.categories && to.category_ns) {
        measure(&to);
        put_head(&to);
        list_categories(&to);
        put_legend(&to);
        if (tree->nodes[0].total_ns)
            put_tree(&to, 0, 0);
        else
            flame_put(out,
                      "<text x=\"4\" y=\"%d\">No scope with a duration is in this recording, or in this part of it."
                      "</text>\n",
                      TOP + 13);
        put_notes(&to);
        if (tree->nodes[0].total_ns) {
            flame_put(out, "<script><![CDATA[\n");
            for (i = 0; i < sizeof script / sizeof *script; ++i) tool_out_bytes(out, script[i], strlen(script[i]));
            flame_put(out, "]]></script>\n");
        }
        flame_put(out, "</svg>\n");
    }
    free((void *)to.categories);
    free(to.category_ns);
    return to.categories && to.category_ns;
}
