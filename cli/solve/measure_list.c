/* One list for reports, JSON and CSV. */
#include "cli/solve/measure_list.h"

#define AT(member) #member, offsetof(dls_measures, member)

const measure_row measure_rows[] = {
    {AT(residual), "", "the judge: unit-free natural map, relative to what impulses account for"},
    {AT(max_error), "m/s", "largest error of one contact"},
    {AT(held), "", "largest share of one contact that is let go; nan without a reference velocity"},
    {AT(residual_active), "", "natural map relative to b where r is not zero"},
    {AT(residual_full), "", "natural map relative to all of b"},
    {AT(natural_map), "", "natural map with ρ = 1, relative to b"},
    {AT(fclib_merit), "", "as FCLib has it"},
    {AT(siconos_error), "", "as Siconos has it"},
    {AT(eps_glob), "", "sum of the four below"},
    {AT(eps_motion), "", "equation of motion"},
    {AT(eps_cone), "", "impulses outside the cone"},
    {AT(eps_law), "", "contact law"},
    {AT(eps_penetration), "", "approaching velocities"},
    {AT(merit_g), "", "energy merit"},
    {AT(apgd_residual), "m/s", "scaled projected gradient"},
    {AT(complementarity), "J", "largest impulse times velocity"},
    {AT(penetration), "m/s", "largest approaching velocity"},
    {AT(cone_violation), "N s", "largest impulse outside the cone"},
    {AT(friction_power), "J", "positive where friction feeds energy"},
};

const int measure_row_count = sizeof measure_rows / sizeof *measure_rows;

double measure_value(const measure_row *row, const dls_measures *measures) {
    return *(const double *)((const char *)measures + row->offset);
}

void measures_to_json(json *j, const dls_measures *measures) {
    json_object_begin(j);
    for (int i = 0; i < measure_row_count; i++)
        json_member_real(j, measure_rows[i].key, measure_value(&measure_rows[i], measures));
    json_object_end(j);
}
