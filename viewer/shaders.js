// Programs of the graphics processor. Bodies' places are integers, taken from textures by number; all that is drawn is told in
// the frame of its body, and places are subtracted from the eye's target as integers: nothing trembles far from the origin.

const COMMON = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp isampler2D;
uniform isampler2D places, turns, points;
uniform sampler2D colours, table;
uniform ivec3 origin;
uniform float quantum, pixel, stress;
uniform mat4 eye, lens;
uniform vec4 cut;
uniform bool flatly, ortho, picking;

vec4 item(int k) { int w = textureSize(table, 0).x; return texelFetch(table, ivec2(k % w, k / w), 0); }
ivec2 row(int body) { int w = textureSize(places, 0).x; return ivec2(body % w, body / w); }
ivec4 point_of(int k) { int w = textureSize(points, 0).x; return texelFetch(points, ivec2(k % w, k / w), 0); }
vec3 turned(vec4 q, vec3 v) { vec3 t = 2.0 * cross(q.yzw, v); return v + q.x * t + cross(q.yzw, t); }
vec4 turn_of(int body) { return normalize(vec4(texelFetch(turns, row(body), 0))); }
bool is_there(int body) { return body < 0 || texelFetch(places, row(body), 0).w == 1; }
vec3 centre_of(int body) { return quantum * vec3(texelFetch(places, row(body), 0).xyz - origin); }
vec3 to_world(int body, vec3 p) { // -1: of the ground; below, points that move by themselves
  if (body < -1) return quantum * vec3(point_of(-2 - body).xyz - origin);
  return body < 0 ? p : centre_of(body) + turned(turn_of(body), p);
}
vec3 colour_of(float packed, int body) {
  if (packed < 0.0) return texelFetch(colours, row(body), 0).rgb;
  int c = int(packed);
  return vec3(c >> 16, c >> 8 & 255, c & 255) / 255.0;
}
bool is_cut(vec3 x) { return dot(cut.xyz, x) > cut.w; }
float pixel_at(vec3 seen) { return ortho ? pixel : pixel * -seen.z; }
vec4 name_of(float kind, float id) {
  int k = int(id);
  return vec4(float(k & 255), float(k >> 8 & 255), float(k >> 16 & 255), kind) / 255.0;
}
const vec3 RAMP[5] = vec3[5](${RAMP.map((c) => `vec3(${c})`)});
vec3 ramp(float t) {
  float at = 4.0 * clamp(t, 0.0, 1.0);
  int k = min(3, int(at));
  return mix(RAMP[k], RAMP[k + 1], at - float(k)) / 255.0;
}
const vec3 LIGHT = vec3(0.35, 0.6, 0.72);
vec3 lit(vec3 colour, vec3 n) {
  float p = max(n.z, 0.0), p2 = p * p, p4 = p2 * p2, p8 = p4 * p4;
  return colour * max(0.4, 0.6 + 0.42 * dot(n, LIGHT)) + 0.08 * p8 * p8 * p8;
}
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
`;

const BALL_VERTEX = `${COMMON}
flat out vec3 centre, tint;
flat out vec4 who;
flat out mat3 own; // from the eye's axes to the ball's
flat out float radius, beyond;
out vec3 at;
void main() {
  int ball = gl_VertexID >> 2;
  vec4 t = item(2 * ball), u = item(2 * ball + 1);
  int body = int(u.x);
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1 & 1) * 2.0 - 1.0;
  gl_Position = NOWHERE;
  vec3 x = to_world(body, t.xyz);
  if (!is_there(body) || is_cut(x)) return;
  centre = (eye * vec4(x, 1.0)).xyz;
  radius = t.w < 0.0 ? -t.w * pixel_at(centre) : t.w;
  beyond = dot(centre, centre) - radius * radius;
  tint = colour_of(u.w, body);
  who = name_of(u.y, u.z);
  vec4 q = body < 0 ? vec4(1, 0, 0, 0) : turn_of(body);
  own = transpose(mat3(eye) * mat3(turned(q, vec3(1, 0, 0)), turned(q, vec3(0, 1, 0)), turned(q, vec3(0, 0, 1))));
  if (ortho) {
    at = centre + radius * vec3(corner, 0.0);
  } else {
    float d = length(centre);
    if (d <= radius || centre.z > 0.0) return;
    vec3 w = -centre / d, side = normalize(cross(vec3(0, 1, 0), w)), up = cross(w, side);
    at = centre + radius * d / sqrt(d * d - radius * radius) * (corner.x * side + corner.y * up);
  }
  gl_Position = lens * vec4(at, 1.0);
}`;

const BALL_FRAGMENT = `${COMMON}
flat in vec3 centre, tint;
flat in vec4 who;
flat in mat3 own;
flat in float radius, beyond;
in vec3 at;
out vec4 colour;
void main() {
  vec2 aside = at.xy - centre.xy;
  float a = dot(at, at), b = dot(at, centre), left = ortho ? radius * radius - dot(aside, aside) : b * b - a * beyond;
  if (left < 0.0) discard;
  vec3 hit = ortho ? vec3(at.xy, centre.z + sqrt(left)) : at * ((b - sqrt(left)) / a), n = (hit - centre) / radius;
  vec2 clip = lens[2].zw * hit.z + lens[3].zw;
  gl_FragDepth = flatly ? gl_FragCoord.z : 0.5 + 0.5 * clip.x / clip.y;
  if (picking) { colour = who; return; }
  vec3 mark = own * n;
  if (flatly) {
    float edge = length(n.xy), spoke = mark.x > 0.0 ? abs(mark.y) * radius : 1e9;
    bool is_dark = (1.0 - edge) * radius < 1.2 * pixel || spoke < 0.8 * pixel;
    colour = vec4(is_dark ? tint * 0.45 : tint, 1.0);
  } else {
    colour = vec4(lit(tint * (mark.x * mark.y * mark.z > 0.0 ? 1.0 : 0.86), n), 1.0);
  }
}`;

const MESH_VERTEX = `${COMMON}
in vec3 point, normal;
in float owner, node;
flat out vec4 who;
out vec3 tint, n, world, seen;
void main() {
  int body = int(owner), k = int(node);
  gl_Position = NOWHERE;
  if (!is_there(body)) return;
  vec4 own = texelFetch(colours, row(body), 0);
  tint = own.rgb;
  who = name_of(1.0, owner);
  if (k == -1) { // rigid
    world = to_world(body, point);
    n = turned(turn_of(body), normal);
  } else if (k >= 0) { // a point of a skin, which is lit face by face
    float share = float(point_of(k).w) / 1023.0;
    world = to_world(-2 - k, point);
    n = vec3(0);
    if (own.a < 0.5) tint = ramp(stress * share * share);
  } else { // x + F X, and normals by the cofactors of F
    vec3 a = vec3(point_of(-2 - k).xyz), b = vec3(point_of(-1 - k).xyz), c = vec3(point_of(-k).xyz);
    world = centre_of(body) + quantum * (mat3(a, b, c) * point);
    n = normalize(mat3(cross(b, c), cross(c, a), cross(a, b)) * normal);
  }
  n = mat3(eye) * n;
  seen = (eye * vec4(world, 1.0)).xyz;
  gl_Position = lens * vec4(seen, 1.0);
}`;

const MESH_FRAGMENT = `${COMMON}
flat in vec4 who;
in vec3 tint, n, world, seen;
out vec4 colour;
void main() {
  vec3 face = cross(dFdx(seen), dFdy(seen)), side = dot(n, n) < 0.1 ? face : gl_FrontFacing ? n : -n;
  if (is_cut(world)) discard;
  colour = picking ? who : vec4(flatly ? tint : lit(tint, normalize(side)), 1.0);
}`;

const RIBBON_VERTEX = `${COMMON}
flat out vec3 tint, aside;
flat out vec4 who;
flat out float is_round;
out float across;
void main() {
  int k = 3 * (gl_VertexID >> 2);
  vec4 a = item(k), b = item(k + 1), c = item(k + 2);
  int body_a = int(a.w), body_b = int(b.w);
  gl_Position = NOWHERE;
  if (!is_there(body_a) || !is_there(body_b) || c.y < 0.0 && !is_there(int(c.w))) return;
  vec3 world_a = to_world(body_a, a.xyz), world_b = to_world(body_b, b.xyz);
  if (is_cut(0.5 * (world_a + world_b))) return;
  vec3 from = (eye * vec4(world_a, 1.0)).xyz, to = (eye * vec4(world_b, 1.0)).xyz;
  vec3 at = (gl_VertexID & 1) == 0 ? from : to, toward = ortho ? vec3(0, 0, 1) : -normalize(at);
  across = (gl_VertexID & 2) == 0 ? -1.0 : 1.0;
  aside = normalize(cross(toward, to - from) + vec3(1e-20, 0, 0));
  is_round = c.x > 0.0 ? 1.0 : 0.0;
  float half_width = c.x > 0.0 ? max(c.x, 0.6 * pixel_at(at)) : -c.x * pixel_at(at);
  tint = colour_of(c.y, int(c.w));
  who = name_of(c.z, c.w);
  gl_Position = lens * vec4(at + across * half_width * aside, 1.0);
}`;

const RIBBON_FRAGMENT = `${COMMON}
flat in vec3 tint, aside;
flat in vec4 who;
flat in float is_round;
in float across;
out vec4 colour;
void main() {
  vec3 n = vec3(across * aside.xy, sqrt(max(0.0, 1.0 - across * across)));
  colour = picking ? who : vec4(is_round > 0.5 && !flatly ? lit(tint, normalize(n)) : tint, 1.0);
}`;
